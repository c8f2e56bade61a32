//! Suggestions for names that are not known.

use super::value::quoted;

/// Describes a word that is not a value of a field, with its values.
pub(super) fn unknown_choice(name: &str, word: &str, words: &[&str]) -> String {
    let hint = did_you_mean(word, words);
    let hint = hint.as_deref().unwrap_or(".");
    format!("{} is not a value of `{name}`{hint} The values are {}", quoted(word), words.join(", "))
}

/// Returns `: did you mean …?` with the most similar word, or `None` if none is similar.
pub(super) fn did_you_mean(written: &str, words: &[&str]) -> Option<String> {
    // Longer texts are no typing errors, and the comparison takes quadratic time.
    let close = words.iter().filter(|_| written.len() <= 40).map(|word| (strsim::jaro_winkler(written, word), word));
    let best = close.filter(|(likeness, _)| *likeness > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, word)| format!(": did you mean `{word}`?"))
}
