//! The figures of a method over several boards.

use std::fmt;

use super::method::Method;
use super::reply::MethodReply;
use super::rows::Measured;

/// A method and its figures over the boards that it solved.
#[derive(Debug, serde::Serialize)]
pub(super) struct MethodFigures {
    #[serde(flatten)]
    pub(super) method: MethodReply,
    pub(super) solved: usize,
    optimal_share: Option<f64>,
    length: Option<Figures>,
    expanded: Option<Figures>,
    generated: Option<Figures>,
    effective_branching_factor: Option<Figures>,
    pub(super) elapsed_us: Option<Figures>,
}

/// Mean, median, minimum and maximum.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Figures {
    mean: f64,
    median: f64,
    min: f64,
    max: f64,
}

impl MethodFigures {
    /// The names of the columns, for a line of [`csv`](Self::csv).
    pub(super) fn csv_names() -> String {
        const MEASURED: [&str; 5] = ["length", "expanded", "generated", "effective_branching_factor", "elapsed_us"];
        let measured = MEASURED.map(|name| format!(",{name}_mean,{name}_median,{name}_min,{name}_max"));
        format!("{},boards,solved,optimal_share{}", MethodReply::CSV_NAMES, measured.concat())
    }

    /// The fields of a line of CSV. `boards` is the number of boards.
    pub(super) fn csv(&self, boards: usize) -> String {
        let share = self.optimal_share.map_or_else(String::new, |share| share.to_string());
        let measured = [self.length, self.expanded, self.generated, self.effective_branching_factor, self.elapsed_us];
        let measured = measured.map(|figures| format!(",{}", Figures::csv(figures)));
        format!("{},{boards},{},{share}{}", self.method.csv(), self.solved, measured.concat())
    }

    /// The line of names of [`line`](Self::line), with `width` columns for the method.
    pub(super) fn names(width: usize) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            write!(
                f,
                "{:width$} {:>7} {:>8} {:>8} {:>12} {:>12} {:>10}",
                "method", "solved", "optimal", "length", "expanded", "generated", "µs"
            )
        })
    }

    /// A line of text with the means, and with `width` columns for the method.
    pub(super) fn line(&self, width: usize) -> impl fmt::Display {
        let mean = |figures: Option<Figures>, places: usize| {
            figures.map_or_else(|| "-".to_owned(), |figures| format!("{:.places$}", figures.mean))
        };
        let share = self.optimal_share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        let (name, solved, length) = (self.method.to_string(), self.solved, mean(self.length, 2));
        let [expanded, generated, time] =
            [self.expanded, self.generated, self.elapsed_us].map(|figures| mean(figures, 1));
        fmt::from_fn(move |f| {
            write!(f, "{name:width$} {solved:>7} {share:>8} {length:>8} {expanded:>12} {generated:>12} {time:>10}")
        })
    }
}

impl MethodFigures {
    /// The figures of a method, given what was measured on each board.
    pub(super) fn new(method: &Method, measured: &[Measured]) -> Self {
        let solved: Vec<&Measured> = measured.iter().filter(|measured| measured.is_solved()).collect();
        let figures = |value: fn(&Measured) -> Option<f64>| {
            Figures::of(solved.iter().filter_map(|measured| value(measured)).collect())
        };
        let optimal = solved.iter().filter(|measured| measured.optimal == Some(true)).count();
        Self {
            method: MethodReply::new(&method.options),
            solved: solved.len(),
            optimal_share: (!solved.is_empty()).then(|| optimal as f64 / solved.len() as f64),
            length: figures(|measured| measured.length.map(|length| length as f64)),
            expanded: figures(|measured| measured.expanded.map(|nodes| nodes as f64)),
            generated: figures(|measured| measured.generated.map(|nodes| nodes as f64)),
            effective_branching_factor: figures(|measured| measured.effective_branching_factor),
            elapsed_us: figures(|measured| measured.elapsed_us.map(|time| time as f64)),
        }
    }
}

impl Figures {
    /// Figures of some values; `None` without values. The median of an even number is the mean of the middle two.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let median = (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0;
        Some(Self { mean: values.iter().sum::<f64>() / values.len() as f64, median, min, max })
    }

    fn csv(figures: Option<Self>) -> String {
        figures
            .map_or_else(|| ",,,".to_owned(), |Self { mean, median, min, max }| format!("{mean},{median},{min},{max}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        let figures = Figures::of(vec![4.0, 1.0, 3.0, 10.0]).unwrap();
        assert_eq!((figures.mean, figures.median, figures.min, figures.max), (4.5, 3.5, 1.0, 10.0));
        assert_eq!(Figures::of(vec![7.0]).map(|figures| figures.median), Some(7.0));
        assert!(Figures::of(Vec::new()).is_none());
    }
}
