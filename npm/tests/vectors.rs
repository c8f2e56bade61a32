//! The test vectors of `tests/vectors`, without WebAssembly.

#[path = "../../tests/vectors/mod.rs"]
mod of_all_ways;

use of_all_ways::{assert_has, vectors};
use taquin_npm::run;

#[test]
fn shared_vectors_hold() {
    for vector in vectors() {
        let answer = run(vector["operation"].as_str().unwrap(), &vector["request"].to_string(), None);
        let expected = if answer.is_ok() { &vector["response"] } else { &vector["problem"] };
        let answer = serde_json::from_str(&answer.unwrap_or_else(|problem| problem)).unwrap();
        assert_has(&answer, expected, vector["name"].as_str().unwrap());
    }
}
