//! Members of a level, expanded while further members are being selected.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::candidate::{Candidate, ParentMove};
use super::parents::PartSize;

/// Members of a level, in parts. One thread adds parts, and all threads take them.
pub(crate) struct Members<N> {
    size: PartSize,
    parts: Vec<OnceLock<Vec<Candidate<N>>>>,
    /// Number of parts that were added.
    added: AtomicUsize,
    /// Number of parts that were taken.
    taken: AtomicUsize,
    is_complete: AtomicBool,
}

/// An attempt to take a part.
pub(crate) enum Taken<'m, N> {
    /// A part and its number.
    Part(usize, &'m [Candidate<N>]),
    /// All parts so far are taken, and more may come.
    NotYet,
    /// All parts are taken.
    All,
}

impl<N> Members<N> {
    /// No members, and room for some.
    pub(crate) fn with_room_for(count: usize) -> Self {
        let size = PartSize::of(count);
        let parts = (0..count.div_ceil(size.boards())).map(|_| OnceLock::new()).collect();
        Self {
            size,
            parts,
            added: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            is_complete: AtomicBool::new(false),
        }
    }

    /// The size of all parts but the last.
    pub(crate) fn size(&self) -> PartSize {
        self.size
    }

    /// Number of parts, at most.
    pub(crate) fn room(&self) -> usize {
        self.parts.len()
    }

    /// Number of parts so far.
    pub(crate) fn added(&self) -> usize {
        self.added.load(Ordering::Acquire)
    }

    /// True if no more parts are added.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Acquire)
    }

    /// True if a part can be taken now.
    pub(crate) fn is_any_left(&self) -> bool {
        self.taken.load(Ordering::Relaxed) < self.added()
    }

    /// Number of members so far.
    pub(crate) fn count(&self) -> usize {
        let last = self.added().checked_sub(1).and_then(|last| Some((last, self.parts[last].get()?)));
        last.map_or(0, |(before, part)| before * self.size.boards() + part.len())
    }

    /// Adds a part. All parts but the last are full.
    pub(crate) fn add(&self, part: Vec<Candidate<N>>) {
        let nth = self.added.load(Ordering::Relaxed);
        assert!(self.parts[nth].set(part).is_ok(), "one thread adds parts");
        self.added.store(nth + 1, Ordering::Release);
    }

    /// Marks the members as complete.
    pub(crate) fn complete(&self) {
        self.is_complete.store(true, Ordering::Release);
    }

    /// Takes a part.
    pub(crate) fn take(&self) -> Taken<'_, N> {
        // Read first: if it is true, all parts have been added.
        let is_complete = self.is_complete();
        let added = self.added();
        let next = |taken| (taken < added).then_some(taken + 1);
        match self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(nth) => Taken::Part(nth, self.parts[nth].get().expect("a part is set before it counts")),
            Err(_) if is_complete => Taken::All,
            Err(_) => Taken::NotYet,
        }
    }

    /// Takes all parts that are left, and lets no more be taken.
    pub(crate) fn withdraw(&self) {
        self.taken.store(self.parts.len(), Ordering::Relaxed);
        self.complete();
    }
}

/// Adds members one by one.
pub(crate) struct Selection<'m, N> {
    members: &'m Members<N>,
    part: Vec<Candidate<N>>,
    /// The steps of all members so far.
    steps: Vec<ParentMove>,
}

impl<'m, N> Selection<'m, N> {
    /// None are selected yet.
    pub(crate) fn new(members: &'m Members<N>) -> Self {
        let boards = members.size.boards();
        Self { members, part: Vec::with_capacity(boards), steps: Vec::with_capacity(members.room() * boards) }
    }

    /// Number of members so far.
    pub(crate) fn count(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn add(&mut self, member: Candidate<N>) {
        let boards = self.members.size.boards();
        self.steps.push(member.step);
        self.part.push(member);
        if self.part.len() == boards {
            self.members.add(std::mem::replace(&mut self.part, Vec::with_capacity(boards)));
        }
    }

    /// Adds the last part, and returns the steps of all members.
    pub(crate) fn complete(self) -> Vec<ParentMove> {
        if !self.part.is_empty() {
            self.members.add(self.part);
        }
        self.members.complete();
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Priority;
    use super::*;
    use crate::domain::Move;

    fn candidate(nth: usize) -> Candidate<()> {
        Candidate { hash: nth as u64, note: (), priority: Priority::of(0, 0), step: ParentMove::new(nth, Move::Up) }
    }

    #[test]
    fn members_are_taken_once_while_others_are_added() {
        for count in [0, 1, 63, 64, 65, 1_000, 20_000] {
            let members = Members::with_room_for(count);
            let taken: Vec<Vec<(usize, u64)>> = std::thread::scope(|scope| {
                let take = || {
                    let mut taken = Vec::new();
                    loop {
                        match members.take() {
                            Taken::Part(nth, part) => taken.extend(part.iter().map(|member| (nth, member.hash))),
                            Taken::NotYet => std::thread::yield_now(),
                            Taken::All => return taken,
                        }
                    }
                };
                let threads = [scope.spawn(take), scope.spawn(take)];
                let mut selection = Selection::new(&members);
                (0..count).for_each(|nth| selection.add(candidate(nth)));
                assert_eq!(selection.complete().len(), count);
                threads.map(|thread| thread.join().unwrap()).into()
            });
            assert_eq!(members.count(), count);
            let mut all = taken.concat();
            all.sort_unstable();
            let boards = members.size().boards();
            let expected: Vec<_> = (0..count).map(|nth| (nth / boards, nth as u64)).collect();
            assert_eq!(all, expected);
        }
    }

    #[test]
    fn nothing_is_taken_after_a_withdrawal() {
        let members = Members::with_room_for(1_000);
        let mut selection = Selection::new(&members);
        (0..900).for_each(|nth| selection.add(candidate(nth)));
        assert!(matches!(members.take(), Taken::Part(0, _)));
        members.withdraw();
        assert!(matches!(members.take(), Taken::All));
    }
}
