//! A bar chart of a distribution.

use std::fmt::{Display, from_fn};

use taquin_bulk::counted;
use taquin_solver::search::Distribution;

use super::Picture;

/// Edges of the bars in a picture of 760 × 400 pixels.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 744.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 344.0;

/// Number of horizontal grid lines above the axis.
const GRID_LINES: u32 = 4;

/// Colors of the chart.
const CHART_STYLE: &str = "
  .bar { fill: var(--mark); }
  .line { stroke: var(--line); stroke-opacity: 0.4; }
  .axis { stroke: var(--line); }
";

/// Draws a bar for each length. The height is the share of all boards.
pub(crate) fn of_distribution(title: &str, distribution: &Distribution<'_>) -> String {
    let most = distribution.counts().iter().max().copied().unwrap_or(1);
    let greatest = 100.0 * distribution.share(most);
    let (boards, longest) = (distribution.boards(), distribution.greatest());
    let description = format!(
        "{boards} boards, at most {longest} moves; each bar is the share of the boards with this optimal length."
    );
    let body = from_fn(|f| {
        writeln!(f, "<text class=\"title\" x=\"{LEFT}\" y=\"28\">{title}</text>")?;
        write!(f, "{}{}{}", grid_lines(greatest), bars(distribution, most), lengths(longest))?;
        writeln!(f, "<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>")?;
        writeln!(f, "<text class=\"middle\" x=\"404\" y=\"388\">moves of an optimal solution</text>")
    });
    Picture { width: 760, height: 400, title: title.to_owned(), description, style: CHART_STYLE, body }.svg()
}

/// Grid lines, with shares in percent.
fn grid_lines(greatest: f64) -> impl Display {
    from_fn(move |f| {
        for line in 0..=GRID_LINES {
            let part = f64::from(line) / f64::from(GRID_LINES);
            let y = BOTTOM - part * (BOTTOM - TOP);
            writeln!(f, "<path class=\"line\" d=\"M{LEFT} {y}H{RIGHT}\"/>")?;
            let percent = part * greatest;
            writeln!(f, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{percent:.1} %</text>", LEFT - 8.0, y + 4.0)?;
        }
        Ok(())
    })
}

/// Distance between two bars.
fn step(longest: u32) -> f64 {
    (RIGHT - LEFT) / f64::from(longest + 1)
}

fn bars(distribution: &Distribution<'_>, most: u64) -> impl Display {
    from_fn(move |f| {
        let step = step(distribution.greatest());
        for (length, boards) in distribution.counts().iter().enumerate() {
            let height = (BOTTOM - TOP) * *boards as f64 / most as f64;
            let x = LEFT + step * (length as f64 + 0.1);
            let percent = 100.0 * distribution.share(*boards);
            writeln!(
                f,
                "<rect class=\"bar\" x=\"{x:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\"><title>{}: {}, \
                 {percent:.4} %</title></rect>",
                BOTTOM - height,
                0.8 * step,
                counted(length as u64, "move"),
                counted(*boards, "board"),
            )?;
        }
        Ok(())
    })
}

/// Labels below the bars, at most seventeen.
fn lengths(longest: u32) -> impl Display {
    from_fn(move |f| {
        let every = if longest <= 40 { 5 } else { 10 };
        for length in (0..=longest).step_by(every) {
            let x = LEFT + step(longest) * (f64::from(length) + 0.5);
            writeln!(f, "<text x=\"{x:.2}\" y=\"{}\" class=\"middle\">{length}</text>", BOTTOM + 20.0)?;
        }
        Ok(())
    })
}
