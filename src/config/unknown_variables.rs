//! Variables that look like settings and are none.

use clap::CommandFactory;

use super::Flags;

/// Of names of environment variables those that begin like a setting's but are no setting: most likely somebody
/// misspelt one, and it has no effect.
///
/// What Kubernetes sets for services whose names begin with `taquin` is not among them.
pub fn strays(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let flags = Flags::command();
    let settings: Vec<_> = flags.get_arguments().filter_map(clap::Arg::get_env).collect();
    let is_stray = |name: &String| {
        name.starts_with("TAQUIN_") && !is_service(name) && !settings.iter().any(|setting| *setting == name.as_str())
    };
    let mut strays: Vec<String> = names.into_iter().filter(is_stray).collect();
    strays.sort_unstable();
    strays
}

/// Such as `TAQUIN_SERVICE_HOST`, `TAQUIN_ADMIN_SERVICE_PORT_HTTP`, `TAQUIN_PORT`, `TAQUIN_PORT_80_TCP_ADDR`.
fn is_service(name: &str) -> bool {
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_PORT")
        || ["_SERVICE_PORT", "_PORT_"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_misspelt_is_found_and_nothing_else() {
        let names = [
            "TAQUIN_WORKRES",
            "TAQUIN_WORKERS",
            "TAQUIN_OTLP_ENDPOINT",
            "TAQUIN_TOKEN_FILE",
            "TAQUIN_TOKEN",
            "TAQUIN_SERVICE_HOST",
            "TAQUIN_SERVICE_PORT",
            "TAQUIN_SERVICE_PORT_HTTP",
            "TAQUIN_ADMIN_SERVICE_HOST",
            "TAQUIN_PORT",
            "TAQUIN_PORT_8080_TCP",
            "TAQUIN_PORT_8080_TCP_ADDR",
            "TAQUINS",
            "PATH",
        ];
        assert_eq!(strays(names.map(str::to_owned)), ["TAQUIN_TOKEN", "TAQUIN_WORKRES"]);
    }
}
