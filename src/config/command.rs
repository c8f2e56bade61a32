//! Derived from the definition of the flags: misspelled environment variables, shell completions, and the man page.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Flags;

/// Sorted names that start with `TAQUIN_` but belong to no setting. They have no effect, and are most likely
/// misspelled.
///
/// Omits variables that Kubernetes sets for services whose names start with `taquin`.
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

/// The completion script for a shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Flags::command(), "taquin", &mut script);
    script
}

/// The man page, in roff.
///
/// # Errors
/// Only if writing to memory fails.
pub fn man_page() -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Flags::command()).render(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

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

    #[test]
    fn completions_know_every_flag_in_every_shell() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(completions(*shell)).unwrap();
            for flag in Flags::command().get_arguments().filter_map(clap::Arg::get_long) {
                assert!(script.contains(flag), "{shell}: {flag}");
            }
        }
    }

    #[test]
    fn the_man_page_has_every_flag_and_variable() {
        // roff escapes hyphens.
        let page = String::from_utf8(man_page().unwrap()).unwrap().replace('\\', "");
        for arg in Flags::command().get_arguments() {
            assert!(page.contains(&format!("--{}", arg.get_long().unwrap())), "{}", arg.get_id());
            assert!(arg.get_env().is_none_or(|variable| page.contains(variable.to_str().unwrap())), "{}", arg.get_id());
        }
    }
}
