//! Layout of a `/solve` response.

use taquin_solver::{Encoding, named};

use crate::http::media_type::MediaType;

/// Layout of a `/solve` response: the format of its boards, not their selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    pub(crate) media_type: MediaType,
    /// Encoding of the boards in JSON.
    pub(crate) encoding: Encoding,
    /// Order of the states.
    pub(crate) order: StateOrder,
    /// Columns of the text that shows states side by side.
    pub(crate) width: usize,
}

/// Order of the states of a solution path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum StateOrder {
    /// As the moves are made.
    #[default]
    StartFirst,
    /// From the goal back to the start.
    GoalFirst,
}

named!(StateOrder { StartFirst => "start_first", GoalFirst => "goal_first" });

impl Layout {
    /// Columns of a text response by default.
    pub(crate) const WIDTH: usize = 100;

    /// The default layout of a media type.
    pub(crate) const fn of(media_type: MediaType) -> Self {
        Self { media_type, encoding: Encoding::Tiles, order: StateOrder::StartFirst, width: Self::WIDTH }
    }
}
