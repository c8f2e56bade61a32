//! The description of a job, from which anyone can make each of its parts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::part::MAX_ROWS;
use super::recipe::Recipe;
use crate::domain::{Board, Encoding, RawBoard, Sides, Size};
use crate::search::Named;
use crate::service::{RequestedLimits, Sweep, Tier, Want};

/// What a job finds out about which boards, and in which chunks.
#[derive(Clone, PartialEq, Debug)]
pub struct JobSpec {
    /// The boards.
    pub recipe: Recipe,
    /// What is found out about each.
    pub want: Want,
    /// Limits of each search.
    pub limits: RequestedLimits,
    /// Strongest tables of the searches.
    pub tables: Tier,
    /// Boards of a chunk; the last chunk has what is left.
    pub chunk: u32,
    /// Version of the solver.
    pub version: String,
}

/// Why bytes are not the description of a job.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// Not the JSON of a specification.
    #[error("it is not the JSON of a job: {0}")]
    Json(String),
    /// Another format.
    #[error("its format is `{0}`, which this version does not know")]
    Format(String),
    /// A member has a value that it cannot have.
    #[error("`{0}` has an invalid value")]
    Member(&'static str),
}

const FORMAT: &str = "taquin-job-1";

/// Most chunks of a job, so that a list of them fits into memory.
const MAX_CHUNKS: u64 = 1 << 24;

#[derive(Serialize, Deserialize)]
struct SpecJson {
    format: String,
    version: String,
    random: RecipeJson,
    goal: String,
    want: String,
    #[serde(default)]
    limits: LimitsJson,
    tables: String,
    chunk: u32,
}

#[derive(Serialize, Deserialize)]
struct RecipeJson {
    rows: usize,
    cols: usize,
    seed: String,
    count: u64,
}

#[derive(Serialize, Deserialize, Default)]
struct LimitsJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expanded: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
}

/// Names of the tiers, as in the settings.
const TIERS: [(Tier, &str); 3] = [(Tier::Small, "small"), (Tier::Standard, "standard"), (Tier::Large, "large")];

impl JobSpec {
    /// The text of `spec.json`. Equal specifications have equal bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let Self { recipe, want, limits, tables, chunk, version } = self;
        let size = recipe.goal().size();
        let seed = recipe.seed().to_owned();
        let json = SpecJson {
            format: FORMAT.to_owned(),
            version: version.clone(),
            random: RecipeJson { rows: size.rows(), cols: size.cols(), seed, count: recipe.count() },
            goal: recipe.goal().to_string(),
            want: want.name().to_owned(),
            limits: LimitsJson {
                time_ms: limits.time.map(|time| time.as_millis() as u64),
                expanded: limits.expanded,
                nodes: limits.nodes,
            },
            tables: TIERS[*tables as usize].1.to_owned(),
            chunk: *chunk,
        };
        let mut bytes = serde_json::to_vec_pretty(&json).expect("it has only texts and numbers");
        bytes.push(b'\n');
        bytes
    }

    /// Reads the text of `spec.json`.
    ///
    /// # Errors
    /// See [`SpecError`].
    pub fn of_json(bytes: &[u8]) -> Result<Self, SpecError> {
        let json: SpecJson = serde_json::from_slice(bytes).map_err(|error| SpecError::Json(error.to_string()))?;
        if json.format != FORMAT {
            return Err(SpecError::Format(json.format));
        }
        let RecipeJson { rows, cols, seed, count } = json.random;
        let size = Size::try_from((rows, cols)).map_err(|_| SpecError::Member("random"))?;
        let spec = Self {
            recipe: Recipe::try_new(goal_of(&json.goal, size)?, &seed, count)
                .map_err(|_| SpecError::Member("random"))?,
            want: Want::from_name(&json.want).ok_or(SpecError::Member("want"))?,
            limits: RequestedLimits {
                time: json.limits.time_ms.map(Duration::from_millis),
                expanded: json.limits.expanded,
                nodes: json.limits.nodes,
            },
            tables: TIERS
                .into_iter()
                .find_map(|(tier, name)| (name == json.tables).then_some(tier))
                .ok_or(SpecError::Member("tables"))?,
            chunk: json.chunk,
            version: json.version,
        };
        if !Sweep::serves(spec.want, size) {
            return Err(SpecError::Member("want"));
        }
        if spec.has_valid_chunks() { Ok(spec) } else { Err(SpecError::Member("chunk")) }
    }

    /// True if the chunks are neither too large nor too many.
    pub fn has_valid_chunks(&self) -> bool {
        (1..=MAX_ROWS).contains(&self.chunk) && self.chunks() <= MAX_CHUNKS
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.recipe.count().div_ceil(self.chunk.into())
    }

    /// Indices of the boards of a chunk.
    pub fn boards_of(&self, chunk: u64) -> std::ops::Range<u64> {
        let first = chunk * u64::from(self.chunk);
        first..(first + u64::from(self.chunk)).min(self.recipe.count())
    }

    /// True if the labels depend on nothing but the boards: proven lengths and first moves do, without limits. Others
    /// depend on the version of the solver and on its tables.
    pub fn has_unique_labels(&self) -> bool {
        let is_unlimited = self.limits == RequestedLimits::default();
        let is_proven = Sweep::serves(Want::Next, self.recipe.goal().size());
        matches!(self.want, Want::Length | Want::Next) && is_unlimited && is_proven
    }

    /// True if labels may differ from one run to the next: those of searches that end by the clock.
    pub fn depends_on_time(&self) -> bool {
        let improves_all_the_time = !Sweep::serves(Want::Next, self.recipe.goal().size());
        self.want != Want::Bounds && (self.limits.time.is_some() || improves_all_the_time)
    }

    /// The first member in which another specification describes other labels, by its name on the command line. The size
    /// of the chunks does not count.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let depends_on_solver = !self.has_unique_labels();
        let (own, others) = (&self.recipe, &other.recipe);
        [
            ("random", own.goal().size() != others.goal().size()),
            ("goal", own.goal() != others.goal()),
            ("count", own.count() != others.count()),
            ("seed", own.seed() != others.seed()),
            ("want", self.want != other.want),
            ("limits", self.limits != other.limits),
            ("tables", depends_on_solver && self.tables != other.tables),
            ("version", depends_on_solver && self.version != other.version),
        ]
        .into_iter()
        .find_map(|(name, differs)| differs.then_some(name))
    }
}

fn goal_of(text: &str, size: Size) -> Result<Board, SpecError> {
    let sides = Sides { rows: Some(size.rows()), cols: Some(size.cols()) };
    RawBoard::parse(text).board(sides, Encoding::Tiles).map_err(|_| SpecError::Member("goal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(rows: usize, cols: usize) -> JobSpec {
        let goal = Board::blank_last(Size::try_from((rows, cols)).unwrap());
        JobSpec {
            recipe: Recipe::try_new(goal, "s", 1_000_000).unwrap(),
            want: Want::Length,
            limits: RequestedLimits::default(),
            tables: Tier::Standard,
            chunk: 16_384,
            version: "1.2.3".to_owned(),
        }
    }

    #[test]
    fn a_specification_is_read_as_written() {
        let limits = RequestedLimits { time: Some(Duration::from_millis(50)), expanded: Some(7), nodes: Some(9) };
        for spec in [spec(4, 4), spec(3, 3), JobSpec { limits, want: Want::Moves, tables: Tier::Large, ..spec(5, 5) }] {
            assert_eq!(JobSpec::of_json(&spec.to_json()), Ok(spec));
        }
    }

    #[test]
    fn wrong_members_are_named() {
        let json = String::from_utf8(spec(4, 4).to_json()).unwrap();
        for (from, to, member) in [
            ("\"rows\": 4", "\"rows\": 1", "random"),
            ("1000000", "0", "random"),
            ("\"want\": \"length\"", "\"want\": \"height\"", "want"),
            ("standard", "huge", "tables"),
            ("\"chunk\": 16384", "\"chunk\": 0", "chunk"),
            ("\"chunk\": 16384", "\"chunk\": 1048577", "chunk"),
            ("1 2 3 4/", "1 1 3 4/", "goal"),
        ] {
            assert!(json.contains(from), "{from}");
            let changed = json.replacen(from, to, 1);
            assert_eq!(JobSpec::of_json(changed.as_bytes()), Err(SpecError::Member(member)), "{changed}");
        }
        let too_many = json.replacen("1000000", "1000000000000", 1).replacen("16384", "16", 1);
        assert_eq!(JobSpec::of_json(too_many.as_bytes()), Err(SpecError::Member("chunk")));
        let other = json.replacen(FORMAT, "taquin-job-2", 1);
        assert_eq!(JobSpec::of_json(other.as_bytes()), Err(SpecError::Format("taquin-job-2".to_owned())));
        assert!(matches!(JobSpec::of_json(b"{}"), Err(SpecError::Json(_))));
        let first_moves = JobSpec { want: Want::Next, ..spec(5, 5) }.to_json();
        assert_eq!(JobSpec::of_json(&first_moves), Err(SpecError::Member("want")));
    }

    #[test]
    fn chunks_cover_all_boards_once() {
        let spec = JobSpec { chunk: 300_000, ..spec(3, 3) };
        let ranges: Vec<_> = (0..spec.chunks()).map(|chunk| spec.boards_of(chunk)).collect();
        assert_eq!(ranges, [0..300_000, 300_000..600_000, 600_000..900_000, 900_000..1_000_000]);
    }

    #[test]
    fn version_and_tables_matter_where_labels_depend_on_them() {
        let own = spec(4, 4);
        let other = JobSpec { version: "2.0.0".to_owned(), tables: Tier::Small, chunk: 1, ..own.clone() };
        assert_eq!(own.difference(&other), None);
        let moves = |spec: JobSpec| JobSpec { want: Want::Moves, ..spec };
        assert_eq!(moves(own.clone()).difference(&moves(other.clone())), Some("tables"));
        let tables = JobSpec { tables: own.tables, ..other.clone() };
        assert_eq!(moves(own.clone()).difference(&moves(tables)), Some("version"));
        assert_eq!(own.difference(&moves(other)), Some("want"));
        let seed = Recipe::try_new(*own.recipe.goal(), "t", own.recipe.count()).unwrap();
        assert_eq!(own.difference(&JobSpec { recipe: seed, ..own.clone() }), Some("seed"));
        assert!(own.has_unique_labels() && !spec(5, 5).has_unique_labels());
        assert!(spec(5, 5).depends_on_time() && !own.depends_on_time());
    }
}
