//! Suggestions for unknown names: "did you mean".

use taquin_solver::Named;

use super::aliases::{FIELD_ALIASES, VALUE_ALIASES};
use super::value::quoted;

/// Maximum length of a compared text, in bytes. [`letters`] limits the text to the same number of characters. A longer
/// text is no typing error, and the comparison takes quadratic time.
const MAX_LENGTH: usize = 40;

/// The similarity, from 0 to 1, that a name must exceed to be the result of [`most_like`].
const MIN_LIKENESS: f64 = 0.8;

/// Words that may follow a name without changing the meaning.
const SUFFIXES: [&str; 4] = ["search", "distance", "heuristic", "algorithm"];

/// Returns the error message for the text `word` in the field `name`, whose valid values are `words`.
pub(crate) fn unknown_choice(name: &str, word: &str, words: &[&str]) -> String {
    let hint = similar_value(word, words).map_or_else(|| ".".to_owned(), hint);
    format!("{} is not a value of `{name}`{hint} The values are {}", quoted(word), words.join(", "))
}

/// Returns `: did you mean …?` with the value of `C` for which `word` may stand. Returns an empty text if there is no
/// such value.
pub fn did_you_mean<C: Named>(word: &str) -> String {
    let words: Vec<&str> = C::ALL.iter().map(|value| value.name()).collect();
    similar_value(word, &words).map(hint).unwrap_or_default()
}

/// Returns `: did you mean …?` with the field of `known` for which `name` may stand. Returns `None` if there is no such
/// field.
pub(crate) fn similar_field(name: &str, known: &[&str]) -> Option<String> {
    // Aliases of an object's members are listed without the name of the object.
    let (prefix, member) = name.rfind('.').map_or(("", name), |dot| name.split_at(dot + 1));
    let of_alias = |field: &&str| {
        let inner = format!("{prefix}{field}");
        known.iter().find(|known| **known == inner || *known == field).copied()
    };
    let by_alias = || aliased(member, &FIELD_ALIASES).iter().find_map(of_alias);
    same(name, known).or_else(by_alias).or_else(|| most_like(name, known)).map(hint)
}

/// Returns true if `name` is a known name with one typing error, or with other capital letters or punctuation. In a
/// known name of fewer than four letters, a typing error does not count, because such names are too similar to other
/// words.
pub(crate) fn is_misspelt(name: &str, known: &[&str]) -> bool {
    let written = letters(name);
    let is_near = |known: &str| known.len() >= 4 && strsim::osa_distance(&written, known) <= 1;
    name.len() <= MAX_LENGTH && known.iter().any(|known| *known != name && (written == *known || is_near(known)))
}

/// Returns the known field for which the alias `name` stands; `None` if `name` is not an alias of a known field.
pub(crate) fn aliased_field<'w>(name: &str, known: &[&'w str]) -> Option<&'w str> {
    aliased(name, &FIELD_ALIASES).iter().find_map(|field| find(known, field))
}

fn similar_value<'w>(word: &str, words: &[&'w str]) -> Option<&'w str> {
    let by_alias = || aliased(word, &VALUE_ALIASES).iter().find_map(|value| find(words, value));
    same(word, words).or_else(by_alias).or_else(|| most_like(word, words))
}

fn hint(name: &str) -> String {
    format!(": did you mean `{name}`?")
}

fn find<'w>(words: &[&'w str], word: &str) -> Option<&'w str> {
    words.iter().find(|known| **known == word).copied()
}

/// Finds the word that equals `written`, apart from capital letters, punctuation and a suffix in [`SUFFIXES`].
fn same<'w>(written: &str, words: &[&'w str]) -> Option<&'w str> {
    let written = letters(written);
    let find =
        |simplify: fn(&str) -> &str| words.iter().find(|word| simplify(&letters(word)) == simplify(&written)).copied();
    find(|text| text).or_else(|| find(without_suffix))
}

/// Returns the names for which an alias stands. Returns no names if `written` is not an alias.
fn aliased(written: &str, aliases: &[(&str, &'static [&'static str])]) -> &'static [&'static str] {
    let written = letters(written);
    let find = |text: &str| aliases.iter().find(|(alias, _)| *alias == text).map(|(_, names)| *names);
    find(&written).or_else(|| find(without_suffix(&written))).unwrap_or_default()
}

/// Returns the most similar name; `None` if no name is similar enough.
pub fn most_like<'w>(written: &str, words: &[&'w str]) -> Option<&'w str> {
    let written = Some(written).filter(|written| written.len() <= MAX_LENGTH)?;
    let close = words.iter().map(|word| (strsim::jaro_winkler(&written.to_lowercase(), word), *word));
    close.filter(|(likeness, _)| *likeness > MIN_LIKENESS).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, word)| word)
}

/// Returns the letters and digits among the first `MAX_LENGTH` characters of a text, in lower case. `*` becomes `star`,
/// and `+` becomes `plus`.
fn letters(text: &str) -> String {
    let mut letters = String::new();
    for char in text.chars().take(MAX_LENGTH) {
        match char {
            '*' => letters.push_str("star"),
            '+' => letters.push_str("plus"),
            _ if char.is_ascii_alphanumeric() => letters.push(char.to_ascii_lowercase()),
            _ => {}
        }
    }
    letters
}

fn without_suffix(letters: &str) -> &str {
    SUFFIXES.iter().find_map(|suffix| letters.strip_suffix(suffix)).filter(|rest| !rest.is_empty()).unwrap_or(letters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::NamedGoal;
    use crate::label::Want;
    use taquin_solver::{Algorithm, HeuristicKind};

    fn of<C: Named>(expected: &str, words: &[&str]) {
        for word in words {
            assert_eq!(did_you_mean::<C>(word), format!(": did you mean `{expected}`?"), "{word}");
        }
    }

    #[test]
    fn algorithms_have_many_spellings() {
        of::<Algorithm>("astar", &["A*", "a*", "A star", "a-star", "AStar", "a_star", "A* search", "A-Star algorithm"]);
        of::<Algorithm>("weighted_astar", &["weighted A*", "WA*", "weighted-a-star", "wastar"]);
        of::<Algorithm>(
            "greedy_best_first",
            &["greedy", "GBFS", "best-first", "Greedy Best-First Search", "pure heuristic"],
        );
        of::<Algorithm>("ida_star", &["IDA*", "ida-star", "idastar", "IDA", "iterative deepening A*"]);
        of::<Algorithm>(
            "breadth_first",
            &["BFS", "breadth-first", "Breadth-first search", "dijkstra", "UCS", "uniform cost"],
        );
        of::<Algorithm>("depth_first", &["DFS", "depth-first", "depth first search", "DLS"]);
        of::<Algorithm>("iterative_deepening", &["IDDFS", "iterative-deepening", "IDS", "DFID"]);
        of::<Algorithm>("anytime", &["any-time", "ARA*"]);
    }

    #[test]
    fn heuristics_have_many_spellings() {
        of::<HeuristicKind>(
            "manhattan",
            &["Manhattan", "manhatan", "manhattan distance", "taxicab", "L1", "city block"],
        );
        of::<HeuristicKind>("manhattan", &["hamiltonian", "Hamilton", "hamiltonian distance"]);
        of::<HeuristicKind>("hamming", &["Hamming distance", "misplaced", "misplaced tiles", "tiles out of place"]);
        of::<HeuristicKind>(
            "linear_conflict",
            &["linear conflict", "LC", "linear-conflicts", "Manhattan + linear conflict"],
        );
        of::<HeuristicKind>(
            "pattern_database",
            &["PDB", "pattern", "additive PDB", "disjoint pattern databases", "pdbs"],
        );
        of::<HeuristicKind>("walking_distance", &["walking", "WD"]);
        of::<HeuristicKind>("inversion_distance", &["inversion", "inversions", "ID"]);
        of::<HeuristicKind>("gaschnig", &["Gaschnig's", "max swap", "n-max-swap"]);
        of::<HeuristicKind>("zero", &["none", "null", "blind"]);
        assert_eq!(did_you_mean::<HeuristicKind>("euclid"), "");
        assert_eq!(did_you_mean::<HeuristicKind>(&"manhattan".repeat(20)), "");
    }

    #[test]
    fn other_values_have_aliases() {
        of::<NamedGoal>("blank_last", &["standard", "solved", "BlankLast", "default"]);
        of::<NamedGoal>("blank_first", &["zero-first", "blank first"]);
        of::<NamedGoal>("snail", &["spiral"]);
        of::<Want>("length", &["cost", "optimal cost", "depth", "lenght"]);
        of::<Want>("moves", &["path", "solution"]);
    }

    #[test]
    fn fields_have_aliases_where_they_are_known() {
        let random = ["rows", "cols", "seed", "length", "percentile", "walk", "count", "as"];
        for (name, field) in [
            ("difficulty", "percentile"),
            ("level", "percentile"),
            ("hardness", "percentile"),
            ("depth", "length"),
            ("moves", "length"),
            ("width", "cols"),
            ("height", "rows"),
            ("scramble", "walk"),
            ("n", "count"),
            ("format", "as"),
            ("Rows", "rows"),
            ("percentil", "percentile"),
        ] {
            assert_eq!(similar_field(name, &random), Some(hint(field)), "{name}");
        }
        assert_eq!(
            similar_field("difficulty", &["algorithm", "heuristic", "depth_limit"]),
            None,
            "the field is not known here"
        );
        assert_eq!(similar_field("depth", &["algorithm", "heuristic", "depth_limit"]), Some(hint("depth_limit")));
        let limits = ["board", "limits.time_ms", "limits.nodes"];
        for (name, field) in
            [("timeout", "limits.time_ms"), ("limits.timeout", "limits.time_ms"), ("max_nodes", "limits.nodes")]
        {
            assert_eq!(similar_field(name, &limits), Some(hint(field)), "{name}");
        }
    }

    #[test]
    fn no_alias_is_listed_twice() {
        for aliases in [&VALUE_ALIASES[..], &FIELD_ALIASES] {
            for (at, (alias, names)) in aliases.iter().enumerate() {
                assert!(*alias == letters(alias) && !names.is_empty(), "{alias}");
                assert!(aliases[..at].iter().all(|(other, _)| other != alias), "{alias}");
            }
        }
    }
}
