//! The system's limit of open files, which bounds the number of connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files besides the connections of the main listener: admin connections, listeners, standard streams, table
/// files and the runtime's own.
const HEADROOM: u64 = 128;

/// Raises the soft limit to the hard limit. Returns the number of connections that fit, at most `connections`.
pub(crate) fn raise_limit(connections: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    let fitting = fitting(connections, limit);
    if fitting < connections {
        tracing::warn!(
            open_files = limit,
            max_connections = fitting,
            asked = connections,
            "the limit on open files allows fewer connections than configured: raise it, or lower --max-connections"
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
    fn connections_fit_into_the_limit() {
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
    fn the_soft_limit_is_raised_to_the_hard_limit() {
        raise_limit(1);
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
