//! The system's limit of open files, of which every connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the connections of the main listener: those of the other one, listeners, standard
/// streams, tables, and what the runtime needs.
const HEADROOM: u64 = 128;

/// Raises the limit as far as the system lets it, and returns how many of the connections fit.
pub(super) fn make_room(connections: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    let fitting = fitting(connections, limit);
    if fitting < connections {
        tracing::warn!(
            open_files = limit,
            max_connections = fitting,
            asked = connections,
            "the limit of open files allows fewer connections"
        );
    }
    fitting
}

fn fitting(connections: usize, limit: Option<u64>) -> usize {
    let room = limit.map_or(u64::MAX, |limit| limit.saturating_sub(HEADROOM).max(1));
    connections.min(usize::try_from(room).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_the_limit_leaves() {
        for (connections, limit, expected) in [
            (16_384, None, 16_384),
            (16_384, Some(1 << 20), 16_384),
            (16_384, Some(4096), 3968),
            (100, Some(1024), 100),
            (100, Some(64), 1),
        ] {
            assert_eq!(fitting(connections, limit), expected, "{connections} of {limit:?}");
        }
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        make_room(1);
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
