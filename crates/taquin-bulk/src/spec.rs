//! The description of a job. Any process can make any part of the job from the description and the files of the input,
//! if there is an input.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use taquin_solver::heuristic::Tier;
use taquin_solver::{Board, Encoding, Named, RawBoard, Sides, Size};

use crate::input::InputRecord;
use crate::input_problems::StoredProblems;
use crate::label::{RequestedLimits, Want};
use crate::part::MAX_ROWS;
use crate::recipe::Recipe;
use crate::sealed::{FormatError, hex, read_sealed, seal, unhex};

/// The description of a job: the boards, the kind of the labels, the limits, the solver, and the number of boards in a
/// chunk.
#[derive(Clone, PartialEq, Debug)]
pub struct JobSpec {
    /// The boards.
    pub boards: JobBoards,
    /// The kind of the labels.
    pub want: Want,
    /// Limits of each search.
    pub limits: RequestedLimits,
    /// Strongest tier of tables in the process that created the job.
    pub tables: Tier,
    /// Number of boards in a chunk. The last chunk has the remaining boards.
    pub chunk: u32,
    /// Version of the solver in the process that created the job.
    pub version: String,
}

/// The source of a job's boards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobBoards {
    /// Boards that are drawn at random from a seed.
    Recipe(Recipe),
    /// Boards of an input. The files of the job contain these boards.
    Input(InputRecord),
}

impl JobBoards {
    /// The goal of all boards.
    pub fn goal(&self) -> &Board {
        match self {
            Self::Recipe(recipe) => recipe.goal(),
            Self::Input(input) => input.goal(),
        }
    }

    /// Returns true if both sources have the same rows. This function does not compare the stored problems of invalid
    /// rows.
    pub fn has_same_rows(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Input(own), Self::Input(other)) => own.has_same_rows(other),
            _ => self == other,
        }
    }

    /// Returns the record of the stored problems of invalid rows. A recipe has no invalid rows, so its record is empty.
    pub fn problems(&self) -> StoredProblems {
        if let Self::Input(input) = self { input.problems() } else { StoredProblems::default() }
    }

    /// Returns the number of boards of the recipe, or the number of rows of the input, including invalid rows.
    pub fn count(&self) -> u64 {
        match self {
            Self::Recipe(recipe) => recipe.count(),
            Self::Input(input) => input.count(),
        }
    }
}

/// The reason why bytes are not a valid `spec.json`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// The bytes are not JSON in the sealed format of specifications.
    #[error(transparent)]
    Text(#[from] FormatError),
    /// A member has an invalid value. The value of the error is the name of the member.
    #[error("`{0}` has an invalid value")]
    Member(&'static str),
}

const FORMAT: &str = "taquin-job-3";

/// Maximum number of chunks, so that a list of all chunks fits into memory.
const MAX_CHUNKS: u64 = 1 << 24;

#[derive(Serialize, Deserialize)]
struct SpecJson {
    format: String,
    version: String,
    #[serde(flatten)]
    boards: BoardsJson,
    goal: String,
    want: String,
    #[serde(default)]
    limits: LimitsJson,
    tables: String,
    chunk: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BoardsJson {
    Random { rows: usize, cols: usize, seed: String, count: u64 },
    Input { rows: usize, cols: usize, count: u64, sha256: String, problems_before: u64, sums_sha256: String },
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

impl JobSpec {
    /// Serializes the specification as the content of `spec.json`. Equal specifications have equal bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let Self { boards, want, limits, tables, chunk, version } = self;
        let (goal, count) = (boards.goal(), boards.count());
        let (rows, cols) = (goal.size().rows(), goal.size().cols());
        let json = SpecJson {
            format: FORMAT.to_owned(),
            version: version.clone(),
            boards: match boards {
                JobBoards::Recipe(recipe) => BoardsJson::Random { rows, cols, seed: recipe.seed().to_owned(), count },
                JobBoards::Input(input) => {
                    let (sha256, sums_sha256) = (hex(input.digest()), hex(input.sums()));
                    let problems_before = input.problems_before();
                    BoardsJson::Input { rows, cols, count, sha256, problems_before, sums_sha256 }
                }
            },
            goal: goal.to_string(),
            want: want.name().to_owned(),
            limits: LimitsJson {
                time_ms: limits.time.map(|time| time.as_millis() as u64),
                expanded: limits.expanded,
                nodes: limits.nodes,
            },
            tables: tables.name().to_owned(),
            chunk: *chunk,
        };
        let mut bytes = serde_json::to_vec_pretty(&json).expect("it has only texts and numbers");
        bytes.push(b'\n');
        seal(&bytes)
    }

    /// Parses the content of `spec.json`.
    ///
    /// # Errors
    /// See [`SpecError`].
    pub fn of_json(bytes: &[u8]) -> Result<Self, SpecError> {
        let json: SpecJson = read_sealed(bytes, FORMAT)?;
        let boards = json.boards.boards(&json.goal)?;
        let size = boards.goal().size();
        let spec = Self {
            boards,
            want: Want::from_name(&json.want).ok_or(SpecError::Member("want"))?,
            limits: RequestedLimits {
                time: json.limits.time_ms.map(Duration::from_millis),
                expanded: json.limits.expanded,
                nodes: json.limits.nodes,
            },
            tables: Tier::ALL.into_iter().find(|tier| tier.name() == json.tables).ok_or(SpecError::Member("tables"))?,
            chunk: json.chunk,
            version: json.version,
        };
        if !spec.want.serves(size) {
            return Err(SpecError::Member("want"));
        }
        if spec.has_valid_chunks() { Ok(spec) } else { Err(SpecError::Member("chunk")) }
    }

    /// Returns true if a chunk has 1 to [`MAX_ROWS`] boards, and if the job has at most `MAX_CHUNKS` chunks.
    pub fn has_valid_chunks(&self) -> bool {
        (1..=MAX_ROWS).contains(&self.chunk) && self.chunks() <= MAX_CHUNKS
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.boards.count().div_ceil(self.chunk.into())
    }

    /// Returns the indices of the boards of a chunk. Both `chunk` and the indices count from 0.
    pub fn boards_of(&self, chunk: u64) -> std::ops::Range<u64> {
        let first = chunk * u64::from(self.chunk);
        first..(first + u64::from(self.chunk)).min(self.boards.count())
    }

    /// Returns the number of boards in the chunks for which the entry in `chunks` is true.
    pub fn boards_in(&self, chunks: &[bool]) -> u64 {
        let marked = (0..).zip(chunks).filter(|(_, is_marked)| **is_marked);
        marked.map(|(chunk, _)| self.boards_of(chunk)).map(|boards| boards.end - boards.start).sum()
    }

    /// Returns true if the labels depend only on the boards. For this, the labels must be proven lengths or first
    /// moves, and the job must have no limits. All other labels also depend on the version and the tables of the
    /// solver.
    pub fn has_unique_labels(&self) -> bool {
        let is_unlimited = self.limits == RequestedLimits::default();
        let is_proven = Want::Next.serves(self.boards.goal().size());
        matches!(self.want, Want::Length | Want::Next) && is_unlimited && is_proven
    }

    /// Returns true if a solver of this version with these tables may make labels of the job. If
    /// [`has_unique_labels`](Self::has_unique_labels) is false, the version and the tables must equal the members
    /// `version` and `tables` of the description.
    pub fn is_served_by(&self, version: &str, tables: Tier) -> bool {
        self.has_unique_labels() || (self.version == version && self.tables == tables)
    }

    /// Returns true if the searches have a time limit, so that the labels may differ between runs. Searches on boards
    /// of more than 16 cells always have a time limit.
    pub fn depends_on_time(&self) -> bool {
        let improves_all_the_time = !Want::Next.serves(self.boards.goal().size());
        self.want != Want::Bounds && (self.limits.time.is_some() || improves_all_the_time)
    }

    /// Returns the name of the first difference, such as `seed` or `limits`. Returns `None` if both specifications
    /// describe the same labels. This function does not compare the number of boards in a chunk.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let depends_on_solver = !self.has_unique_labels();
        let (own, others) = (&self.boards, &other.boards);
        let seed = |boards: &JobBoards| {
            if let JobBoards::Recipe(recipe) = boards { Some(recipe.seed().to_owned()) } else { None }
        };
        let is_other_input = matches!((own, others), (JobBoards::Input(own), JobBoards::Input(other))
            if !own.has_same_rows(other));
        [
            ("input", seed(own).is_some() != seed(others).is_some()),
            ("random", own.goal().size() != others.goal().size()),
            ("goal", own.goal() != others.goal()),
            ("count", own.count() != others.count()),
            ("seed", seed(own) != seed(others)),
            ("input", is_other_input),
            ("want", self.want != other.want),
            ("limits", self.limits != other.limits),
            ("tables", depends_on_solver && self.tables != other.tables),
            ("version", depends_on_solver && self.version != other.version),
        ]
        .into_iter()
        .find_map(|(name, differs)| differs.then_some(name))
    }
}

impl BoardsJson {
    fn boards(self, goal: &str) -> Result<JobBoards, SpecError> {
        let (rows, cols, member) = match self {
            Self::Random { rows, cols, .. } => (rows, cols, "random"),
            Self::Input { rows, cols, .. } => (rows, cols, "input"),
        };
        let wrong = SpecError::Member(member);
        let goal = goal_of(goal, Size::try_from((rows, cols)).map_err(|_| wrong.clone())?)?;
        match self {
            Self::Random { seed, count, .. } => {
                Recipe::try_new(goal, &seed, count).map(JobBoards::Recipe).map_err(|_| wrong)
            }
            Self::Input { count, sha256, problems_before, sums_sha256, .. } => {
                let digests = unhex(&sha256).zip(unhex(&sums_sha256));
                let is_count = (1..=Recipe::MAX_COUNT).contains(&count);
                let (digest, sums) = digests.filter(|_| is_count).ok_or(wrong)?;
                Ok(JobBoards::Input(InputRecord::new(goal, count, digest, sums).with_problems_before(problems_before)))
            }
        }
    }
}

fn goal_of(text: &str, size: Size) -> Result<Board, SpecError> {
    let sides = Sides { rows: Some(size.rows()), cols: Some(size.cols()) };
    RawBoard::parse(text).board(sides, Encoding::Tiles).map_err(|_| SpecError::Member("goal"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sealed::unseal;

    fn spec(rows: usize, cols: usize) -> JobSpec {
        let goal = Board::blank_last(Size::try_from((rows, cols)).unwrap());
        JobSpec {
            boards: JobBoards::Recipe(Recipe::try_new(goal, "s", 1_000_000).unwrap()),
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
        let goal = Board::snail(Size::try_from((2, 7)).unwrap());
        let input = InputRecord::new(goal, 77, [5; 32], [6; 32]);
        for spec in [
            spec(4, 4),
            spec(3, 3),
            JobSpec { limits, want: Want::Moves, tables: Tier::Large, ..spec(5, 5) },
            JobSpec { boards: JobBoards::Input(input.clone().with_problems_before(5)), ..spec(4, 4) },
            JobSpec { boards: JobBoards::Input(input), ..spec(4, 4) },
        ] {
            assert_eq!(JobSpec::of_json(&spec.to_json()), Ok(spec));
        }
    }

    #[test]
    fn wrong_members_are_named() {
        let json = String::from_utf8(unseal(&spec(4, 4).to_json()).unwrap()).unwrap();
        let of_json = |json: String| JobSpec::of_json(&seal(json.as_bytes()));
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
            assert_eq!(of_json(json.replacen(from, to, 1)), Err(SpecError::Member(member)), "{to}");
        }
        let too_many = json.replacen("1000000", "1000000000000", 1).replacen("16384", "16", 1);
        assert_eq!(of_json(too_many), Err(SpecError::Member("chunk")));
        let other = of_json(json.replacen(FORMAT, "taquin-job-1", 1));
        assert_eq!(other, Err(FormatError::Format("taquin-job-1".to_owned(), FORMAT).into()));
        assert!(matches!(JobSpec::of_json(b"{}"), Err(SpecError::Text(_))));
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
        let with = |boards| JobSpec { boards, ..own.clone() };
        let (goal, count) = (*own.boards.goal(), own.boards.count());
        let seed = with(JobBoards::Recipe(Recipe::try_new(goal, "t", count).unwrap()));
        assert_eq!(own.difference(&seed), Some("seed"));
        let input = |byte| with(JobBoards::Input(InputRecord::new(goal, count, [byte; 32], [0; 32])));
        assert_eq!(own.difference(&input(1)), Some("input"));
        assert_eq!(input(1).difference(&input(2)), Some("input"));
        assert_eq!(input(1).difference(&input(1)), None);
        let untold = InputRecord::new(goal, count, [1; 32], [9; 32]).with_problems_before(3);
        let untold = with(JobBoards::Input(untold));
        assert_eq!(input(1).difference(&untold), None, "the texts of problems do not count");
        assert!(own.has_unique_labels() && !spec(5, 5).has_unique_labels());
        assert!(spec(5, 5).depends_on_time() && !own.depends_on_time());
    }
}
