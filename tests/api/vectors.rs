//! The test vectors of `tests/vectors` over HTTP.

#[path = "../vectors/mod.rs"]
mod of_all_ways;

use crate::client::shared;
use of_all_ways::{assert_has, vectors};

#[tokio::test]
async fn shared_vectors_hold_over_http() {
    let taquin = shared().await;
    for vector in vectors() {
        let path = format!("/{}", vector["operation"].as_str().expect("a name"));
        let answer = taquin.post(&path, &vector["request"]).await;
        let status = vector["problem"]["status"].as_u64().unwrap_or(200);
        assert_eq!(u64::from(answer.status), status, "{vector}");
        let expected = if status == 200 { &vector["response"] } else { &vector["problem"] };
        assert_has(&answer.json(), expected, vector["name"].as_str().expect("a name"));
    }
}
