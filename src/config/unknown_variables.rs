//! Detection of misspelled environment variables.

use clap::CommandFactory;

use super::Flags;

/// The names that start with `TAQUIN_` but belong to no setting, sorted. They have no effect and are most likely
/// misspelled.
///
/// Variables that Kubernetes sets for services whose names start with `taquin` are left out.
pub fn unknown_variables(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let flags = Flags::command();
    let settings: Vec<_> = flags.get_arguments().filter_map(clap::Arg::get_env).collect();
    let is_unknown = |name: &String| {
        name.starts_with("TAQUIN_") && !is_kubernetes(name) && !settings.iter().any(|setting| *setting == name.as_str())
    };
    let mut unknown: Vec<String> = names.into_iter().filter(is_unknown).collect();
    unknown.sort_unstable();
    unknown
}

/// True for names such as `TAQUIN_SERVICE_HOST`, `TAQUIN_ADMIN_SERVICE_PORT_HTTP`, `TAQUIN_PORT`,
/// `TAQUIN_PORT_80_TCP_ADDR`.
fn is_kubernetes(name: &str) -> bool {
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_PORT")
        || ["_SERVICE_PORT", "_PORT_"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_misspelled_variables_are_found() {
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
        assert_eq!(unknown_variables(names.map(str::to_owned)), ["TAQUIN_TOKEN", "TAQUIN_WORKRES"]);
    }
}
