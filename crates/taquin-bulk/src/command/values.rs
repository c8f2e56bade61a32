//! Values of flags. This module has the formats, and functions that parse other values.
//!
//! If the text is invalid, each function returns a message about the text.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use crate::Shard;
use crate::fields::did_you_mean;
use taquin_solver::{Named, Size, named};

/// The value of a flag, or the reason why the text of the value is invalid.
pub(crate) type Given<T> = Result<T, String>;

/// Creates a parser for clap. The parser never fails, because clap would stop at the first invalid value. The value of
/// the flag is the result of `parse`.
pub(crate) fn given<T>(
    parse: fn(&str) -> Given<T>,
) -> impl Fn(&str) -> Result<Given<T>, Infallible> + Clone + Send + Sync {
    move |text| Ok(parse(text))
}

/// A format of input lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextFormat {
    Ndjson,
    Csv,
}

/// A format of outputs. `Packed` is the format of the parts of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Ndjson,
    Csv,
    Parquet,
    Packed,
}

named!(TextFormat { Ndjson => "ndjson", Csv => "csv" });

named!(Format { Ndjson => "ndjson", Csv => "csv", Parquet => "parquet", Packed => "packed" });

/// Parses a shape. The text `3x5` means 3 rows and 5 columns.
pub(crate) fn size(text: &str) -> Result<Size, String> {
    let sides = text.split_once(['x', 'X', '×']);
    let sides = sides.and_then(|(rows, cols)| Some((rows.trim().parse().ok()?, cols.trim().parse().ok()?)));
    let sides: (usize, usize) = sides.ok_or_else(|| format!("{text:?} is not a shape such as 4x4"))?;
    Size::try_from(sides).map_err(|error| error.to_string())
}

/// Parses a shard. The text `3/4` means the last of 4 shards.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let shard = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    shard
        .and_then(|(index, count)| Shard::try_new(index, count))
        .ok_or_else(|| format!("{text:?} is not a shard such as 0/4 or 3/4"))
}

/// Parses a whole number within `range`. The number may have an exponent, such as `1e6`.
pub(crate) fn whole_number(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let exact = |number: &f64| number.fract() == 0.0 && (0.0..=1e15).contains(number);
    let number =
        u64::from_str(text).ok().or_else(|| f64::from_str(text).ok().filter(exact).map(|number| number as u64));
    let wrong = || format!("{text:?} is not a whole number from {} to {}", range.start(), range.end());
    number.filter(|number| range.contains(number)).ok_or_else(wrong)
}

/// Parses a duration from 1 ms to 24 hours.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let parsed = parse_duration(text, Duration::from_millis(1)..=Duration::from_secs(24 * 60 * 60), "24h");
    parsed.map_err(|reason| format!("{text:?} {reason}"))
}

/// Parses a duration within bounds. `most` is the upper bound as text, such as `24h`.
///
/// # Errors
/// A message without its subject, such as `is not between 1ms and 24h`. The caller puts the quoted text before the
/// message.
pub fn parse_duration(text: &str, bounds: RangeInclusive<Duration>, most: &str) -> Result<Duration, String> {
    let parse = |text: &str| humantime::parse_duration(text.trim());
    let is_valid = |text: &str| parse(text).is_ok_and(|duration| bounds.contains(&duration));
    match parse(text) {
        Ok(duration) if bounds.contains(&duration) => Ok(duration),
        Ok(_) => Err(format!("is not between {} and {most}", humantime::format_duration(*bounds.start()))),
        Err(_) => Err(match with_unit(text, &["ms", "s", "m", "h", "d"], is_valid) {
            Some(durations) => format!("is not a duration, because the unit is missing: write {durations}"),
            None => "is not a duration with a unit, such as 500ms, 10s or 1m".to_owned(),
        }),
    }
}

/// Lists the valid durations or other values that a number without a unit may mean, such as `5ms, 5s or 5m`. Returns
/// `None` if there are no such values, or if the text is not a whole number.
pub fn with_unit(text: &str, units: &[&str], is_valid: impl Fn(&str) -> bool) -> Option<String> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let values = units.iter().map(|unit| format!("{text}{unit}")).filter(|value| is_number && is_valid(value));
    let values: Vec<String> = values.collect();
    let (last, others) = values.split_last()?;
    Some(if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) })
}

/// Parses the name of a value of type `T`.
pub(crate) fn choice<T: Named>(name: &str) -> Result<T, String> {
    T::from_name(name).ok_or_else(|| format!("{name:?} is not one of {}{}", names::<T>(), did_you_mean::<T>(name)))
}

fn names<T: Named>() -> String {
    T::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join(", ")
}
