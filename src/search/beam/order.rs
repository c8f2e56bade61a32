//! Which boards of a beam's level come first.

use super::candidate::{Candidate, Rank};
use crate::search::StopReason;

/// Candidates in the order of their rank; of equal ones those first that come of boards of a better rank.
///
/// Made by counting: a level has many candidates, and few keys.
#[derive(Debug, Default)]
pub(super) struct ByRank {
    keys: Vec<Keys>,
    counts: Vec<u32>,
    order: Vec<Place>,
}

/// The list, and the number in it.
pub(super) type Place = (u32, u32);

/// The keys of a stage.
#[derive(Clone, Copy, Debug)]
struct Keys {
    least: u32,
    greatest: u32,
    /// Of the counts of the stage.
    first: usize,
}

impl Keys {
    /// So many are told apart at least; if there are more, neighbours may count as equal.
    const TOLD_APART: u32 = 1 << 11;
    const NONE: Self = Self { least: u32::MAX, greatest: 0, first: 0 };

    fn shift(self) -> u32 {
        let span = self.greatest - self.least;
        (u32::BITS - span.leading_zeros()).saturating_sub(Self::TOLD_APART.ilog2() + 1)
    }

    fn slot(self, key: u32) -> usize {
        self.first + ((key - self.least) >> self.shift()) as usize
    }
}

impl ByRank {
    /// Orders what is in some lists, of the foremost stages alone: so many of them at most. For each of those, a piece.
    ///
    /// # Errors
    /// What `ask` says, which is asked between steps of which each goes through all of it.
    pub(super) fn sort<'s, 'c, M: 'c>(
        &'s mut self,
        lists: impl Iterator<Item = &'c [Candidate<M>]> + Clone,
        stages: usize,
        mut ask: impl FnMut() -> Result<(), StopReason>,
    ) -> Result<impl Iterator<Item = &'s [Place]>, StopReason> {
        let ranks = || lists.clone().flatten().map(|candidate| candidate.rank);
        let foremost = ranks().map(Rank::stages).min().unwrap_or(0);
        let stage_of = |rank: Rank| Some(usize::from(rank.stages() - foremost)).filter(|stage| *stage < stages);
        ask()?;
        self.take_in(stages, || ranks().filter_map(|rank| Some((stage_of(rank)?, rank.key()))));
        ask()?;
        let Self { keys, counts, order } = self;
        for (list, candidates) in (0..).zip(lists) {
            for (nth, candidate) in (0..).zip(candidates) {
                let Some(stage) = stage_of(candidate.rank) else { continue };
                let next = &mut counts[keys[stage].slot(candidate.rank.key())];
                order[*next as usize] = (list, nth);
                *next += 1;
            }
        }
        let (counts, order): (&[u32], &[Place]) = (counts, order);
        // Where the last key of a stage ends, it ends.
        let mut begun = 0;
        Ok(keys.iter().filter(|keys| keys.least <= keys.greatest).map(move |keys| {
            let end = counts[keys.slot(keys.greatest)] as usize;
            &order[std::mem::replace(&mut begun, end)..end]
        }))
    }

    /// Counts by key what there is, and says for each where its first one goes.
    fn take_in<I: Iterator<Item = (usize, u32)>>(&mut self, stages: usize, all: impl Fn() -> I) {
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
    use super::super::candidate::Step;
    use super::super::guide::Promise;
    use super::*;
    use crate::domain::{Move, mix};

    fn candidate(stages: u8, key: u32) -> Candidate<()> {
        let rank = Rank::of(Promise { stages, key, least: 0 });
        Candidate { hash: 0, memo: (), rank, step: Step::new(0, Move::Up) }
    }

    /// What comes out, against a sort that is stable.
    fn check(lists: &[Vec<Candidate<()>>], stages: usize, by_rank: &mut ByRank) {
        let pieces: Vec<Vec<Place>> =
            by_rank.sort(lists.iter().map(Vec::as_slice), stages, || Ok(())).unwrap().map(<[Place]>::to_vec).collect();
        let numbered = |(list, candidates): (u32, &Vec<Candidate<()>>)| -> Vec<(Rank, Place)> {
            (0..).zip(candidates).map(|(nth, candidate)| (candidate.rank, (list, nth))).collect()
        };
        let mut twin: Vec<(Rank, Place)> = (0..).zip(lists).flat_map(numbered).collect();
        twin.sort_by_key(|(rank, _)| *rank);
        let foremost = twin.first().map_or(0, |(rank, _)| rank.stages());
        twin.retain(|(rank, _)| usize::from(rank.stages() - foremost) < stages);
        let twin: Vec<Vec<Place>> = twin
            .chunk_by(|a, b| a.0.stages() == b.0.stages())
            .map(|piece| piece.iter().map(|(_, place)| *place).collect())
            .collect();
        assert_eq!(pieces, twin);
    }

    #[test]
    fn the_order_is_that_of_a_stable_sort() {
        let mut by_rank = ByRank::default();
        check(&[], 5, &mut by_rank);
        for round in 0..200 {
            let random = |nth: u64, below: u64| mix(round * 1_000 + nth, 7) % below;
            let list = |list: u64| -> Vec<Candidate<()>> {
                let one = |nth| {
                    candidate(3 + random(nth, 1 + round % 9) as u8, 500 + random(nth + 500, 1 << (round % 12)) as u32)
                };
                (list * 100..list * 100 + random(list, 100)).map(one).collect()
            };
            let lists: Vec<_> = (0..round % 5).map(list).collect();
            check(&lists, 1 + (round % 6) as usize, &mut by_rank);
        }
    }

    #[test]
    fn keys_far_apart_are_in_order_though_neighbours_may_not_be() {
        let list: Vec<_> = (0..10_000).map(|nth| candidate(0, (mix(nth, 3) % (1 << 20)) as u32)).collect();
        let mut by_rank = ByRank::default();
        let order: Vec<Place> =
            by_rank.sort([list.as_slice()].into_iter(), 1, || Ok(())).unwrap().next().unwrap().to_vec();
        let keys: Vec<u32> = order.iter().map(|(_, nth)| list[*nth as usize].rank.key()).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1] + (1 << 9)) && keys.len() == 10_000);
    }
}
