//! `docs/CONFIGURATION.md`: its tests generate it from the flags and compare the help texts with the code.

#[cfg(test)]
mod tests;
