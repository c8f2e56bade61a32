//! Shell completions and the man page, generated from the flags.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Flags;

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
