//! Order of the candidates of a beam.

use super::candidate::{Candidate, Priority};
use crate::search::StopReason;

/// Sorts candidates by priority, stably: among equals, those of better parents come first.
///
/// A counting sort: a level has many candidates and few keys.
#[derive(Debug, Default)]
pub(super) struct CandidateOrder {
    keys: Vec<Keys>,
    counts: Vec<u32>,
    order: Vec<CandidateIndex>,
}

/// Index of a list, and index in that list.
pub(super) type CandidateIndex = (u32, u32);

/// Range of the keys of a stage.
#[derive(Clone, Copy, Debug)]
struct Keys {
    least: u32,
    greatest: u32,
    /// Index of the stage's first counter.
    first: usize,
}

impl Keys {
    /// Number of distinct keys below which each key has its own counter. Beyond it, adjacent keys may share one.
    const MIN_DISTINCT: u32 = 1 << 11;
    const NONE: Self = Self { least: u32::MAX, greatest: 0, first: 0 };

    fn shift(self) -> u32 {
        let span = self.greatest - self.least;
        (u32::BITS - span.leading_zeros()).saturating_sub(Self::MIN_DISTINCT.ilog2() + 1)
    }

    fn slot(self, key: u32) -> usize {
        self.first + ((key - self.least) >> self.shift()) as usize
    }
}

impl CandidateOrder {
    /// Sorts the candidates of several lists, and returns one slice per stage. Only the `stages` stages nearest to the
    /// goal are kept.
    ///
    /// # Errors
    /// Those of `check_budget`, which is called between passes over the candidates.
    pub(super) fn sort<'s, 'c, M: 'c>(
        &'s mut self,
        lists: impl Iterator<Item = &'c [Candidate<M>]> + Clone,
        stages: usize,
        mut check_budget: impl FnMut() -> Result<(), StopReason>,
    ) -> Result<impl Iterator<Item = &'s [CandidateIndex]>, StopReason> {
        let priorities = || lists.clone().flatten().map(|candidate| candidate.priority);
        let foremost = priorities().map(Priority::stages).min().unwrap_or(0);
        let stage_of =
            |priority: Priority| Some(usize::from(priority.stages() - foremost)).filter(|stage| *stage < stages);
        check_budget()?;
        self.count_keys(stages, || priorities().filter_map(|priority| Some((stage_of(priority)?, priority.key()))));
        check_budget()?;
        let Self { keys, counts, order } = self;
        for (list, candidates) in (0..).zip(lists) {
            for (nth, candidate) in (0..).zip(candidates) {
                let Some(stage) = stage_of(candidate.priority) else { continue };
                let next = &mut counts[keys[stage].slot(candidate.priority.key())];
                order[*next as usize] = (list, nth);
                *next += 1;
            }
        }
        let (counts, order): (&[u32], &[CandidateIndex]) = (counts, order);
        // A stage ends where its last key ends.
        let mut begun = 0;
        Ok(keys.iter().filter(|keys| keys.least <= keys.greatest).map(move |keys| {
            let end = counts[keys.slot(keys.greatest)] as usize;
            &order[std::mem::replace(&mut begun, end)..end]
        }))
    }

    /// Counts the keys, and turns the counts into start offsets.
    fn count_keys<I: Iterator<Item = (usize, u32)>>(&mut self, stages: usize, all: impl Fn() -> I) {
        let Self { keys, counts, order } = self;
        keys.clear();
        keys.resize(stages, Keys::NONE);
        for (stage, key) in all() {
            let keys = &mut keys[stage];
            (keys.least, keys.greatest) = (keys.least.min(key), keys.greatest.max(key));
        }
        let mut first = 0;
        for keys in keys.iter_mut().filter(|keys| keys.least <= keys.greatest) {
            keys.first = first;
            first = keys.slot(keys.greatest) + 1;
        }
        counts.clear();
        counts.resize(first, 0);
        all().for_each(|(stage, key)| counts[keys[stage].slot(key)] += 1);
        let mut total = 0;
        for count in counts.iter_mut() {
            total += std::mem::replace(count, total);
        }
        order.resize(total as usize, (0, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::ParentMove;
    use super::super::guide::Score;
    use super::*;
    use crate::domain::{Move, mix};

    fn candidate(stages: u8, key: u32) -> Candidate<()> {
        let priority = Priority::of(Score { stages, key, least: 0 });
        Candidate { hash: 0, note: (), priority, step: ParentMove::new(0, Move::Up) }
    }

    /// Compares the order with that of a stable sort.
    fn assert_stable_order(lists: &[Vec<Candidate<()>>], stages: usize, order_by_priority: &mut CandidateOrder) {
        let pieces: Vec<Vec<CandidateIndex>> = order_by_priority
            .sort(lists.iter().map(Vec::as_slice), stages, || Ok(()))
            .unwrap()
            .map(<[CandidateIndex]>::to_vec)
            .collect();
        let numbered = |(list, candidates): (u32, &Vec<Candidate<()>>)| -> Vec<(Priority, CandidateIndex)> {
            (0..).zip(candidates).map(|(nth, candidate)| (candidate.priority, (list, nth))).collect()
        };
        let mut expected: Vec<(Priority, CandidateIndex)> = (0..).zip(lists).flat_map(numbered).collect();
        expected.sort_by_key(|(priority, _)| *priority);
        let foremost = expected.first().map_or(0, |(priority, _)| priority.stages());
        expected.retain(|(priority, _)| usize::from(priority.stages() - foremost) < stages);
        let expected: Vec<Vec<CandidateIndex>> = expected
            .chunk_by(|a, b| a.0.stages() == b.0.stages())
            .map(|piece| piece.iter().map(|(_, index)| *index).collect())
            .collect();
        assert_eq!(pieces, expected);
    }

    #[test]
    fn the_order_is_that_of_a_stable_sort() {
        let mut order_by_priority = CandidateOrder::default();
        assert_stable_order(&[], 5, &mut order_by_priority);
        for round in 0..200 {
            let random = |nth: u64, below: u64| mix(round * 1_000 + nth, 7) % below;
            let list = |list: u64| -> Vec<Candidate<()>> {
                let one = |nth| {
                    candidate(3 + random(nth, 1 + round % 9) as u8, 500 + random(nth + 500, 1 << (round % 12)) as u32)
                };
                (list * 100..list * 100 + random(list, 100)).map(one).collect()
            };
            let lists: Vec<_> = (0..round % 5).map(list).collect();
            assert_stable_order(&lists, 1 + (round % 6) as usize, &mut order_by_priority);
        }
    }

    #[test]
    fn distant_keys_are_ordered() {
        let list: Vec<_> = (0..10_000).map(|nth| candidate(0, (mix(nth, 3) % (1 << 20)) as u32)).collect();
        let mut order_by_priority = CandidateOrder::default();
        let order: Vec<CandidateIndex> =
            order_by_priority.sort([list.as_slice()].into_iter(), 1, || Ok(())).unwrap().next().unwrap().to_vec();
        let keys: Vec<u32> = order.iter().map(|(_, nth)| list[*nth as usize].priority.key()).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1] + (1 << 9)) && keys.len() == 10_000);
    }
}
