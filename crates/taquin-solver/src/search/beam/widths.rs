//! Widths of a beam's levels.

/// The levels of a beam, whose widths fall from the first one on.
///
/// Each level has the same share of the boards that are left, so that widths fall exponentially, until an even share is
/// more. If the first level is to be five times as wide as the average, the last fifth of the levels is evenly wide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    /// Number of all levels.
    pub all: usize,
    /// How many times as wide as the average the first one is.
    pub first: usize,
}

impl Levels {
    /// Width of the first of the last `left` levels, if `boards` may be expanded in them; at least 1.
    pub(super) fn width(self, boards: u64, left: usize) -> usize {
        let shares = left.min(self.all.div_ceil(self.first)).max(1);
        usize::try_from(boards / shares as u64).unwrap_or(usize::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths of levels in which as many boards are expanded as may be.
    fn widths(levels: Levels, boards: u64) -> Vec<usize> {
        let mut left = boards;
        let width = |nth: usize| {
            let width = levels.width(left, levels.all - nth);
            left -= width as u64;
            width
        };
        (0..levels.all).map(width).collect()
    }

    #[test]
    fn an_even_beam_has_equal_levels() {
        assert_eq!(widths(Levels { all: 200, first: 1 }, 200_000), [1_000; 200]);
    }

    #[test]
    fn widths_fall_until_the_last_part() {
        let widths = widths(Levels { all: 200, first: 5 }, 200_000);
        assert_eq!(widths[0], 5_000);
        assert!(widths[..160].windows(2).all(|pair| pair[0] > pair[1]));
        assert!(widths[160..].iter().all(|width| width.abs_diff(widths[160]) <= 1));
        assert_eq!(widths.iter().sum::<usize>(), 200_000, "all boards are used");
        assert!(widths[199] >= 5_000 / 100, "the last levels are wide enough to find the goal");
    }

    #[test]
    fn boards_that_were_not_used_go_to_later_levels() {
        let levels = Levels { all: 200, first: 5 };
        assert!(levels.width(200_000 - 100, 199) > levels.width(200_000 - 5_000, 199));
    }

    #[test]
    fn a_level_has_a_board_even_if_none_may_be_expanded() {
        assert_eq!(Levels { all: 9, first: 5 }.width(0, 0), 1);
    }
}
