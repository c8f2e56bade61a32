//! Values of flags, from text.
//!
//! On failure, each function returns a message that names the fault of the text.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use taquin_solver::{Board, Encoding, Named, RawBoard, Sides, Size};

use crate::config::parse_duration;
use crate::http::{NamedGoal, did_you_mean};
use crate::jobs::Shard;

/// A shape, such as `3x5`.
pub(super) fn size(text: &str) -> Result<Size, String> {
    let sides = text.split_once(['x', 'X', '×']);
    let sides = sides.and_then(|(rows, cols)| Some((rows.trim().parse().ok()?, cols.trim().parse().ok()?)));
    let sides: (usize, usize) = sides.ok_or_else(|| format!("{text:?} is not a shape such as 4x4"))?;
    Size::try_from(sides).map_err(|error| error.to_string())
}

/// A goal on boards of a size: a name or a board.
pub(super) fn goal(text: Option<&str>, size: Size) -> Result<Board, String> {
    let Some(text) = text else { return Ok(Board::blank_last(size)) };
    if let Some(goal) = NamedGoal::from_name(text) {
        return Ok(goal.on(size));
    }
    let sides = Sides { rows: Some(size.rows()), cols: Some(size.cols()) };
    let raw = RawBoard::parse(text);
    raw.board(sides, Encoding::Tiles).map_err(|faults| {
        let reasons: Vec<String> = faults.iter().map(|fault| raw.explain("goal", fault)).collect();
        let hint = did_you_mean::<NamedGoal>(text);
        format!(
            "{text:?} is neither one of {} nor a board of {size}: {}{hint}",
            names::<NamedGoal>(),
            reasons.join("; ")
        )
    })
}

/// A share, such as `3/4`.
pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let shard = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    shard
        .and_then(|(index, count)| Shard::try_new(index, count))
        .ok_or_else(|| format!("{text:?} is not a share such as 0/4 or 3/4"))
}

/// A whole number, also with an exponent.
pub(super) fn whole_number(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let exact = |number: &f64| number.fract() == 0.0 && (0.0..=1e15).contains(number);
    let number =
        u64::from_str(text).ok().or_else(|| f64::from_str(text).ok().filter(exact).map(|number| number as u64));
    let wrong = || format!("{text:?} is not a whole number from {} to {}", range.start(), range.end());
    number.filter(|number| range.contains(number)).ok_or_else(wrong)
}

/// A duration of at most a day.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text, Duration::from_millis(1)..=Duration::from_secs(24 * 60 * 60), "24h")
}

/// A value by its name.
pub(super) fn choice<T: Named>(name: &str) -> Result<T, String> {
    T::from_name(name).ok_or_else(|| format!("{name:?} is not one of {}{}", names::<T>(), did_you_mean::<T>(name)))
}

fn names<T: Named>() -> String {
    T::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join(", ")
}
