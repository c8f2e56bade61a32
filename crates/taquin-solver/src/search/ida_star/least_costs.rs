//! Order of the parts of an iteration.

use std::sync::Arc;

use super::board_form::BoardForm;
use super::frontier::Frontier;
use super::node::BatchNode;

/// The least cost of the nodes below each node of a frontier, found by an iteration.
///
/// A part whose nodes came closest to the goal in one iteration probably contains it in the next (Powley & Korf 1991,
/// "Single-agent parallel window search").
#[derive(Debug)]
pub(super) struct LeastCosts<S: BoardForm> {
    frontier: Arc<Frontier<S>>,
    /// By node.
    costs: Vec<u8>,
}

impl<S: BoardForm> LeastCosts<S> {
    /// The least costs of all nodes, given those of the leaves.
    pub(super) fn new(frontier: Arc<Frontier<S>>, leaves: impl Iterator<Item = (u32, u8)>) -> Self {
        let mut costs: Vec<u8> = (0..frontier.len() as u32).map(|number| frontier.node(number).cost()).collect();
        for (leaf, cost) in leaves {
            costs[leaf as usize] = cost;
        }
        for number in (1..frontier.len()).rev() {
            let parent = frontier.parent(number as u32) as usize;
            costs[parent] = costs[parent].min(costs[number]);
        }
        Self { frontier, costs }
    }

    /// By node of the next iteration's frontier: the least cost below it. A node below a leaf has the leaf's. A node
    /// that was not within the threshold has its own cost.
    pub(super) fn of(&self, next: &Frontier<S>) -> Vec<u8> {
        let mut same = vec![Some(Frontier::<S>::ROOT)];
        for number in 1..next.len() as u32 {
            let above = same[next.parent(number) as usize];
            same.push(above.and_then(|above| match self.frontier.children(above) {
                Some(children) => self.frontier.child(children, next.node(number).last()),
                None => Some(above),
            }));
        }
        let least_cost = |(number, same): (u32, Option<u32>)| match same {
            Some(same) => self.costs[same as usize],
            None => next.node(number).cost(),
        };
        (0..).zip(same).map(least_cost).collect()
    }
}

/// Order of a part with this root: the most promising ones have the least numbers. The costs of the views count among
/// parts of one least cost. The weight was chosen to minimize the nodes of Korf's 15-puzzles.
pub(super) fn promise<S: BoardForm>(root: &BatchNode<S>, least_cost: u8) -> u32 {
    root.costs().into_iter().map(u32::from).sum::<u32>() + 8 * u32::from(least_cost)
}

#[cfg(test)]
mod tests {
    use super::super::batch::BatchSearch;
    use super::super::board_form::Form16;
    use super::super::move_automaton::{MoveAutomaton, MoveHistory};
    use super::super::node::MoveTables;
    use super::*;
    use crate::domain::{Board, Packed64, Puzzle, Size, SplitMix, random_board};
    use crate::search::heuristic::pattern::additive::{AdditivePatterns, Costs};
    use crate::search::heuristic::{GoalClass, Heuristic, Partition, Tier};
    use crate::search::{Space, State};

    type Patterns<'t> = AdditivePatterns<'t>;

    /// A plain depth-first search below a board, within so many moves: the least cost of an expanded node.
    fn least_cost(
        (space, patterns): (&Space<Packed64>, &Patterns<'_>),
        state: &State<Packed64>,
        history: MoveHistory,
        left: u32,
    ) -> u32 {
        let cost = Heuristic::<Packed64>::h(patterns, patterns.evaluate(state));
        let mut least = cost;
        for mv in space.moves_except(state.blank, history.refused()) {
            let mut next = *state;
            space.make(&mut next, mv);
            if left > 0 && Heuristic::<Packed64>::h(patterns, patterns.evaluate(&next)) < left {
                let history = MoveAutomaton::get().next(history, mv);
                least = least.min(least_cost((space, patterns), &next, history, left - 1));
            }
        }
        least
    }

    /// Compares all nodes of a frontier; returns how many there are.
    fn check(space: &Space<Packed64>, patterns: &Patterns<'_>, least_costs: &LeastCosts<Form16<0>>) -> usize {
        let LeastCosts { frontier, costs } = least_costs;
        for (number, cost) in (0..).zip(costs) {
            let mut moves: Vec<_> = frontier.moves_back(number).collect();
            moves.reverse();
            let (mut state, mut history) = (space.start(), MoveHistory::START);
            for mv in moves {
                space.make(&mut state, mv);
                history = MoveAutomaton::get().next(history, mv);
            }
            let left = u32::from(frontier.node(number).left());
            assert_eq!(u32::from(*cost), least_cost((space, patterns), &state, history, left), "node {number}");
        }
        frontier.len()
    }

    #[test]
    fn least_costs_are_those_of_a_plain_search_and_are_inherited() {
        let size = Size::try_from((3, 4)).unwrap();
        let goal = Board::blank_last(size);
        let class = GoalClass::of(size, goal.blank());
        let choice = Partition::choose(class, Tier::Small).unwrap();
        let partitions = Partition::build(class, &choice);
        let patterns = AdditivePatterns::new(size, goal.blank(), &partitions);
        let mut random = SplitMix(51);
        let mut nodes = 0;
        for _ in 0..20 {
            let space = Space::<Packed64>::new(&Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
            let costs: Costs = patterns.evaluate(&space.start());
            let tables = MoveTables::<Form16<0>>::new(&patterns, &space, &costs);
            let mut search = BatchSearch::new(&tables);
            let mut before = None;
            let mut threshold = Heuristic::<Packed64>::h(&patterns, costs) as u8;
            loop {
                let parts = search.split(tables.root(threshold), 60, before.as_ref());
                search.run(&parts, &mut |_| Ok(u64::MAX)).unwrap();
                if parts.found().is_some() {
                    break;
                }
                let least_costs = parts.least_costs();
                nodes += check(&space, &patterns, &least_costs);
                // Its own nodes inherit their own costs.
                assert_eq!(least_costs.of(&least_costs.frontier), least_costs.costs);
                before = Some(least_costs);
                threshold += 2;
            }
        }
        assert!(nodes > 1000, "{nodes}");
    }
}
