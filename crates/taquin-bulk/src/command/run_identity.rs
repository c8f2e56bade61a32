//! The identity of a run. An unfinished file can be resumed only by a run with the same identity.

use std::time::Duration;

use serde_json::Value;
use taquin_solver::Named;

use super::Session;
use super::input::RowInput;
use super::unfinished::RunIdentity;
use super::values::Format;
use crate::{Recipe, RequestedLimits, StoredJob, Want, hex};

impl Session<'_> {
    /// Returns the identity of a run that labels the rows of an input.
    pub(crate) fn identity_of_rows(&self, input: &RowInput, format: Format) -> RunIdentity {
        let options = &input.options;
        let size = options.sides.rows.zip(options.sides.cols).map(|(rows, cols)| format!("{rows}x{cols}"));
        let of_input = [
            ("input-format", Some(input.format.name().to_owned())),
            ("goal", Some(options.goal_text())),
            ("size", size),
        ];
        self.describe(&of_input, (options.want, options.limits), format)
    }

    /// Returns the identity of a run that labels the boards of a recipe.
    pub(crate) fn identity_of_recipe(
        &self,
        recipe: &Recipe,
        label: (Want, RequestedLimits),
        format: Format,
    ) -> RunIdentity {
        let goal = recipe.goal();
        let of_recipe = [
            ("random", format!("{}x{}", goal.size().rows(), goal.size().cols())),
            ("count", recipe.count().to_string()),
            ("seed", recipe.seed().to_owned()),
            ("goal", goal.to_string()),
        ];
        self.describe(&of_recipe.map(|(name, value)| (name, Some(value))), label, format)
    }

    /// Returns the identity of a run that writes the labels of a job.
    pub(crate) fn identity_of_job(&self, job: &StoredJob, format: Format) -> RunIdentity {
        let spec = job.spec();
        self.describe(&[("directory", Some(hex(job.digest())))], (spec.want, spec.limits), format)
    }

    fn describe(
        &self,
        source: &[(&str, Option<String>)],
        (want, limits): (Want, RequestedLimits),
        format: Format,
    ) -> RunIdentity {
        let time = limits.time.map(|time: Duration| format!("{time:?}"));
        let arguments = [
            ("format", Some(format.name().to_owned())),
            ("want", Some(want.name().to_owned())),
            ("board-time", time),
            ("board-expanded", limits.expanded.map(|expanded| expanded.to_string())),
            ("tables", Some(self.tier.name().to_owned())),
            ("version", Some(self.version.to_owned())),
        ];
        let all = source.iter().cloned().chain(arguments);
        RunIdentity(all.filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?)))).collect())
    }
}
