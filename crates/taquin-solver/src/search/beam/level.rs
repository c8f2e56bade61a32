//! One level of a beam, and its expansion by several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::candidate::{Candidate, ParentMove, Priority};
use super::cutoffs::{KeyCounts, KeyGrid};
use super::guide::{BOARDS, ExpandedBoard, Guide, MAX_SLIDES};
use super::members::{Members, Taken};
use super::parents::Parents;
use crate::domain::{MoveSet, Packed, mix};
use crate::search::budget::HELPER_POLL_INTERVAL;
use crate::search::prefetch::prefetch;
use crate::search::{Slide, Space, StopReason};

/// Results of expanding consecutive boards. They do not depend on the thread that expands them.
pub(crate) struct LevelPart<P, G: Guide<P>> {
    /// The expanded boards.
    pub boards: Vec<ExpandedBoard<P, G::Memo>>,
    /// Successors that can lead to a short enough solution.
    pub candidates: Vec<Candidate<G::Note>>,
    pub generated: u64,
    /// The move that reaches the goal, if any. All boards before it were expanded.
    pub goal: Option<ParentMove>,
}

impl<P, G: Guide<P>> LevelPart<P, G> {
    fn with_room_for(boards: usize) -> Self {
        let (boards, candidates) = (Vec::with_capacity(boards), Vec::with_capacity(2 * boards));
        Self { boards, candidates, generated: 0, goal: None }
    }

    pub(crate) fn expanded(&self) -> u64 {
        self.boards.len() as u64
    }
}

/// A level to expand.
pub(crate) struct Level<'a, P, G: Guide<P>> {
    pub space: &'a Space<P>,
    pub guide: &'a G,
    /// Only solutions shorter than this count.
    pub shorter_than: usize,
    /// Moves from the start to the successors.
    pub g: usize,
    /// Number of levels since a new stage was last reached.
    pub stalled_levels: usize,
    pub parents: Parents<P, G::Memo>,
    pub members: Members<G::Note>,
    pub progress: LevelProgress<P, G>,
}

/// Results of a level.
pub(crate) struct LevelResults<P, G: Guide<P>> {
    pub parts: Vec<LevelPart<P, G>>,
    /// Numbers of all candidates.
    pub counts: KeyCounts,
}

/// Results of the parts that are done.
struct ResultsSoFar<P, G: Guide<P>> {
    parts: Vec<Option<LevelPart<P, G>>>,
    counts: KeyCounts,
}

impl<P, G: Guide<P>> ResultsSoFar<P, G> {
    fn add(&mut self, nth: usize, part: LevelPart<P, G>) {
        self.counts.add(part.candidates.iter().map(|candidate| candidate.priority));
        self.parts[nth] = Some(part);
    }
}

/// Progress of a level's expansion.
pub(crate) struct LevelProgress<P, G: Guide<P>> {
    results: Mutex<ResultsSoFar<P, G>>,
    done: AtomicUsize,
    part_done: Condvar,
}

impl<P, G: Guide<P>> LevelProgress<P, G> {
    /// Empty results, with capacity for `parts` parts.
    pub(crate) fn new(parts: usize, grid: KeyGrid) -> Self {
        let results = ResultsSoFar { parts: (0..parts).map(|_| None).collect(), counts: KeyCounts::new(grid) };
        Self { results: Mutex::new(results), done: AtomicUsize::new(0), part_done: Condvar::new() }
    }
}

impl<P: Packed, G: Guide<P>> Level<'_, P, G> {
    /// True if there is enough work for more than one thread.
    pub(crate) fn is_worth_sharing(&self) -> bool {
        self.members.room() >= 4
    }

    /// Expands parts that no thread has taken until none are left. Calls `check_budget` before each part, with the
    /// number of boards that all threads have expanded.
    ///
    /// # Errors
    /// Errors of `check_budget`.
    pub(crate) fn work(&self, mut check_budget: impl FnMut(u64) -> Result<(), StopReason>) -> Result<(), StopReason> {
        let (LevelProgress { results, done, part_done }, members) = (&self.progress, &self.members);
        loop {
            check_budget((done.load(Ordering::Relaxed) * members.size().boards()) as u64)?;
            match members.take() {
                Taken::Part(nth, part) => {
                    let part = self.expand(nth * members.size().boards(), part);
                    lock(results).add(nth, part);
                    done.fetch_add(1, Ordering::Release);
                    part_done.notify_all();
                }
                Taken::NotYet => {
                    if !spin_until(|| members.is_any_left() || members.is_complete()) {
                        drop(part_done.wait_timeout(lock(results), HELPER_POLL_INTERVAL));
                    }
                }
                Taken::All => return Ok(()),
            }
        }
    }

    /// Waits until all threads have finished their parts, and returns the results.
    ///
    /// # Errors
    /// Errors of `check_budget`, which is called while waiting.
    pub(crate) fn finish(
        &self,
        mut check_budget: impl FnMut() -> Result<(), StopReason>,
    ) -> Result<LevelResults<P, G>, StopReason> {
        let LevelProgress { results, done, part_done } = &self.progress;
        let is_done = || done.load(Ordering::Acquire) == self.members.added();
        while !spin_until(is_done) {
            check_budget()?;
            drop(part_done.wait_timeout_while(lock(results), HELPER_POLL_INTERVAL, |_| !is_done()));
        }
        Ok(self.take_results())
    }

    /// Takes the results so far.
    pub(crate) fn take_results(&self) -> LevelResults<P, G> {
        let ResultsSoFar { parts, counts } = &mut *lock(&self.progress.results);
        LevelResults { parts: parts.iter_mut().filter_map(Option::take).collect(), counts: counts.take() }
    }

    /// Expands some members. `first` is the index of the first one in the level.
    fn expand(&self, first: usize, members: &[Candidate<G::Note>]) -> LevelPart<P, G> {
        let mut part = LevelPart::with_room_for(members.len());
        let (mut slides, mut notes) = (Vec::with_capacity(MAX_SLIDES), Vec::with_capacity(MAX_SLIDES));
        for begin in (0..members.len()).step_by(BOARDS) {
            slides.clear();
            notes.clear();
            self.add_boards(members, begin..members.len().min(begin + BOARDS), &mut part, &mut slides);
            self.guide.add_notes(&part.boards, &slides, &mut notes);
            self.add_candidates(first, members, &mut part, &slides, &notes);
            if part.goal.is_some() {
                break;
            }
        }
        part
    }

    /// Adds some members to the boards of a part, and lists the slides on them.
    #[inline(always)]
    fn add_boards(
        &self,
        members: &[Candidate<G::Note>],
        range: Range<usize>,
        part: &mut LevelPart<P, G>,
        slides: &mut Vec<(u32, Slide)>,
    ) {
        let Self { space, guide, parents, .. } = self;
        for coming in members[range.end..].iter().take(BOARDS) {
            prefetch(parents.of(coming));
        }
        for member in &members[range] {
            let nth = part.boards.len();
            part.boards.push(*parents.of(member));
            let board = &mut part.boards[nth];
            let back = if parents.is_start() {
                MoveSet::EMPTY
            } else {
                let slide = space.make(&mut board.state, member.step.mv());
                board.memo = guide.after(&board.memo, &slide, member.note);
                MoveSet::back(slide.mv)
            };
            let moves = space.moves_except(board.state.blank, back).into_iter();
            slides.extend(moves.map(|mv| (nth as u32, space.slide(&board.state, mv))));
        }
    }

    /// Adds the successors to a part, up to the goal. `first` is the index of the part's first board in the level.
    #[inline(always)]
    fn add_candidates(
        &self,
        first: usize,
        members: &[Candidate<G::Note>],
        part: &mut LevelPart<P, G>,
        slides: &[(u32, Slide)],
        notes: &[Option<G::Note>],
    ) {
        let Self { space, guide, shorter_than, g, stalled_levels, .. } = self;
        for ((nth, slide), note) in slides.iter().zip(notes) {
            part.generated += 1;
            let Some(note) = *note else { continue };
            let (nth, score) = (*nth as usize, guide.score(note, *stalled_levels));
            let step = ParentMove::new(first + nth, slide.mv);
            if score.least == 0 && space.is_goal(&part.boards[nth].state.after(slide)) {
                part.goal = Some(step);
                part.boards.truncate(nth + 1);
                return;
            }
            if g + score.least.max(1) as usize >= *shorter_than {
                continue;
            }
            let Candidate { hash, priority, .. } = members[nth];
            let hash = hash ^ zobrist(slide.label, slide.from) ^ zobrist(slide.label, slide.to);
            let priority = Priority::of_successor::<P, G>(score, priority);
            part.candidates.push(Candidate { hash, note, priority, step });
        }
    }
}

/// Zobrist hash of a tile in a cell (Zobrist 1970).
#[inline]
fn zobrist(label: u8, cell: u8) -> u64 {
    mix(u64::from(label), u64::from(cell))
}

/// Locks data. Nothing uses the data left by a panicked thread any more.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spins briefly until a condition holds, because levels follow each other faster than a thread wakes up. Returns
/// false if the condition does not hold in time.
pub(crate) fn spin_until(condition: impl Fn() -> bool) -> bool {
    const SPINS: u32 = 4096;
    (0..SPINS).any(|_| {
        std::hint::spin_loop();
        condition()
    })
}
