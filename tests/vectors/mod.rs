//! Test vectors that all ways to the solver share: requests, and members of their responses or problems.

use serde_json::Value;

/// The vectors: objects with `name`, `operation`, `request`, and `response` or `problem`.
pub(crate) fn vectors() -> Vec<Value> {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("operations.json")).expect("they are JSON");
    assert!(vectors.len() > 50);
    vectors
}

/// Asserts that a response has all expected members. Numbers may differ in their last digits.
pub(crate) fn assert_has(response: &Value, expected: &Value, at: &str) {
    match (response, expected) {
        (Value::Object(members), Value::Object(expected)) => {
            for (name, value) in expected {
                let member = members.get(name).unwrap_or_else(|| panic!("{at}: no {name} in {response}"));
                assert_has(member, value, &format!("{at}/{name}"));
            }
        }
        (Value::Array(entries), Value::Array(expected)) => {
            assert_eq!(entries.len(), expected.len(), "{at}");
            entries.iter().zip(expected).for_each(|(entry, expected)| assert_has(entry, expected, at));
        }
        (Value::Number(number), Value::Number(expected)) => {
            let [number, expected] = [number, expected].map(|number| number.as_f64().expect("a number"));
            assert!((number - expected).abs() <= 1e-12 * expected.abs(), "{at}: {number}, not {expected}");
        }
        _ => assert_eq!(response, expected, "{at}"),
    }
}
