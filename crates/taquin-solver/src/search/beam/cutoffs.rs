//! Selects the candidates of a beam that become members of the next level.

use super::candidate::Priority;

/// Numbers of candidates by stage and key.
pub(crate) struct KeyCounts {
    grid: KeyGrid,
    /// By number of remaining stages.
    by_stage: Vec<StageCounts>,
}

/// Numbers of candidates of a stage.
#[derive(Clone)]
struct StageCounts {
    /// By slot of keys; empty if there are none.
    counts: Vec<u32>,
    least_key: u32,
    greatest_key: u32,
}

impl StageCounts {
    const NONE: Self = Self { counts: Vec::new(), least_key: u32::MAX, greatest_key: 0 };

    fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    #[inline]
    fn add(&mut self, key: u32, grid: KeyGrid) {
        if self.is_empty() {
            self.counts.resize(KeyGrid::SLOTS as usize, 0);
        }
        self.counts[grid.slot(key) as usize] += 1;
        (self.least_key, self.greatest_key) = (self.least_key.min(key), self.greatest_key.max(key));
    }

    /// The end of a share of the candidates, and the number of candidates before it.
    fn cutoff(&self, share: u32, grid: KeyGrid) -> (Cutoff, u32) {
        if self.is_empty() {
            return (Cutoff { end: 0, left: 0 }, 0);
        }
        let mut left = share;
        for end in grid.slot(self.least_key)..=grid.slot(self.greatest_key) {
            match left.checked_sub(self.counts[end as usize]) {
                Some(rest) => left = rest,
                None => return (Cutoff { end, left }, share),
            }
        }
        (Cutoff { end: KeyGrid::SLOTS, left: 0 }, share - left)
    }
}

/// Slots of keys of equal size. The first and the last slot include all keys beyond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyGrid {
    least: u32,
    shift: u32,
}

impl KeyGrid {
    const SLOTS: u32 = 1 << 11;
    /// Most keys change by less than this from one level to the next.
    const MARGIN: u32 = 512;

    /// A grid for the successors of boards with these keys.
    pub(crate) fn around(least: u32, greatest: u32) -> Self {
        let (least, greatest) = (least.saturating_sub(Self::MARGIN), greatest + Self::MARGIN);
        Self { least, shift: ((greatest - least) / Self::SLOTS).checked_ilog2().map_or(0, |bits| bits + 1) }
    }

    #[inline]
    fn slot(self, key: u32) -> u32 {
        (key.saturating_sub(self.least) >> self.shift).min(Self::SLOTS - 1)
    }
}

impl KeyCounts {
    pub(crate) fn new(grid: KeyGrid) -> Self {
        Self { grid, by_stage: Vec::new() }
    }

    pub(crate) fn add(&mut self, priorities: impl Iterator<Item = Priority>) {
        for priority in priorities {
            let stage = usize::from(priority.stages());
            if self.by_stage.len() <= stage {
                self.by_stage.resize(stage + 1, StageCounts::NONE);
            }
            self.by_stage[stage].add(priority.key(), self.grid);
        }
    }

    /// Takes all counts.
    pub(crate) fn take(&mut self) -> Self {
        Self { grid: self.grid, by_stage: std::mem::take(&mut self.by_stage) }
    }

    /// A grid for the next level.
    pub(crate) fn next_grid(&self) -> KeyGrid {
        let greatest = self.by_stage.iter().map(|stage| stage.greatest_key).max().unwrap_or(0);
        let least = self.by_stage.iter().map(|stage| stage.least_key).min().unwrap_or(0);
        KeyGrid::around(least.min(greatest), greatest)
    }
}

/// The greatest keys that are selected, by stage.
///
/// Counting is faster than sorting, and leaves the candidates in the order of their parents, which are read next.
#[derive(Debug)]
pub(crate) struct Cutoffs {
    grid: KeyGrid,
    foremost: u8,
    /// The stage nearest to the goal first.
    stages: Vec<Cutoff>,
    selected: usize,
}

/// The selection within one stage.
#[derive(Clone, Copy, Debug)]
struct Cutoff {
    /// All keys in slots before this one are selected.
    end: u32,
    /// Number of candidates that are selected in that slot.
    left: u32,
}

impl Cutoffs {
    /// Selects at most `width` candidates, of which the `stages` stages nearest to the goal have equal shares.
    pub(crate) fn new(counts: &KeyCounts, stages: usize, width: usize) -> Self {
        let width = u32::try_from(width).unwrap_or(u32::MAX);
        let share = width.div_ceil(stages as u32);
        let foremost = counts.by_stage.iter().position(|stage| !stage.is_empty()).unwrap_or(0);
        let mut left = width;
        let cutoff = |stage: &StageCounts| {
            let (cutoff, selected) = stage.cutoff(share.min(left), counts.grid);
            left -= selected;
            cutoff
        };
        let stages = counts.by_stage.iter().skip(foremost).take(stages).map(cutoff).collect();
        Self { grid: counts.grid, foremost: foremost as u8, stages, selected: (width - left) as usize }
    }

    /// Number of candidates that are selected.
    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    /// The number of remaining stages of the foremost candidates.
    pub(crate) fn foremost(&self) -> u8 {
        self.foremost
    }

    /// True if the next candidate is selected, given its priority.
    #[inline]
    pub(crate) fn select(&mut self, priority: Priority) -> bool {
        let Some(cutoff) = self.stages.get_mut(usize::from(priority.stages() - self.foremost)) else { return false };
        let slot = self.grid.slot(priority.key());
        if slot == cutoff.end && cutoff.left > 0 {
            cutoff.left -= 1;
            return true;
        }
        slot < cutoff.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mix;

    fn priorities(round: u64) -> Vec<Priority> {
        let random = |nth: u64, below: u64| mix(round * 1_000 + nth, 7) % below;
        let one = |nth| {
            let stages = 3 + random(nth, 1 + round % 9) as u8;
            Priority::of(stages, 700 + random(nth + 500, 1 << (round % 10)) as u32)
        };
        (0..round * 3 % 400).map(one).collect()
    }

    /// Indices of the best of each stage, by a stable sort.
    fn sorted(priorities: &[Priority], stages: usize, width: usize) -> Vec<usize> {
        let foremost = priorities.iter().map(|priority| priority.stages()).min().unwrap_or(0);
        let mut selected = Vec::new();
        for stage in (foremost..).take(stages) {
            let mut of_stage: Vec<_> = (0..priorities.len()).filter(|nth| priorities[*nth].stages() == stage).collect();
            of_stage.sort_by_key(|nth| priorities[*nth].key());
            let share = width.div_ceil(stages).min(width - selected.len());
            selected.extend(of_stage.into_iter().take(share));
        }
        selected.sort_unstable();
        selected
    }

    fn selected(priorities: &[Priority], grid: KeyGrid, stages: usize, width: usize) -> Vec<usize> {
        let mut counts = KeyCounts::new(grid);
        let (some, others) = priorities.split_at(priorities.len() / 3);
        counts.add(others.iter().copied());
        counts.add(some.iter().copied());
        let mut cutoffs = Cutoffs::new(&counts, stages, width);
        let selected: Vec<_> = (0..priorities.len()).filter(|nth| cutoffs.select(priorities[*nth])).collect();
        assert_eq!(cutoffs.selected(), selected.len());
        selected
    }

    #[test]
    fn the_best_of_each_stage_are_selected() {
        for round in 0..300 {
            let priorities = priorities(round);
            for (stages, width) in [(1, 1), (1, 50), (3, 20), (10, 4), (10, 16), (10, 200), (10, 10_000)] {
                let fast = selected(&priorities, KeyGrid::around(700, 1_700), stages, width);
                assert!(fast.len() <= width);
                assert_eq!(fast, sorted(&priorities, stages, width), "{round}: {stages} stages, {width}");
            }
        }
    }

    /// Beyond the grid and within a slot, the order does not matter, and the number does.
    #[test]
    fn a_share_is_selected_on_any_grid() {
        for round in 0..300 {
            let priorities = priorities(round);
            for grid in [KeyGrid::around(0, 0), KeyGrid::around(900, 1_000), KeyGrid::around(0, 1 << 20)] {
                let expected = sorted(&priorities, 3, 60).len();
                assert_eq!(selected(&priorities, grid, 3, 60).len(), expected, "{round}: {grid:?}");
            }
        }
    }

    #[test]
    fn the_next_grid_has_all_keys() {
        for round in 1..300 {
            let priorities = priorities(round);
            // Some keys are beyond this grid.
            let mut counts = KeyCounts::new(KeyGrid { least: 800, shift: 0 });
            counts.add(priorities.iter().copied());
            let next = counts.next_grid();
            let inner = priorities.iter().map(|priority| next.slot(priority.key()));
            assert!(inner.clone().all(|slot| (1..KeyGrid::SLOTS - 1).contains(&slot)), "{next:?}");
            assert_eq!(next.shift, 0);
        }
    }
}
