//! Two services that share nothing, behind a balancer that sends each request to either of them.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::client::{Client, Service};
use crate::question::Question;
use crate::simulator::{grid_of, slide};

/// Two services, and a source of random choices between them.
struct Replicas {
    services: [Service; 2],
    clients: [Client; 2],
    random: u64,
}

impl Replicas {
    async fn start(seed: u64) -> Self {
        let services = [Service::start(&["--workers", "1"]).await, Service::start(&["--workers", "1"]).await];
        let clients = [services[0].client(), services[1].client()];
        Self { services, clients, random: seed }
    }

    /// A number below `bound`: SplitMix64.
    fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ word >> 31) as usize % bound
    }

    /// Sends a question for a hint to one of the two.
    async fn hint(&mut self, question: &Value) -> Answer {
        let client = self.below(self.clients.len());
        self.clients[client].post("/hint", question).await.expect(200)
    }

    async fn random_board(&self, side: usize, seed: &str) -> Value {
        let target = format!("/random?rows={side}&cols={side}&seed={seed}&as=request");
        self.clients[0].get(&target).await.expect(200).json()
    }

    /// Number of searches that either has made.
    async fn searches(&self) -> u64 {
        let mut searches = 0;
        for service in &self.services {
            let text = service.client().get("/metrics").await.expect(200).text().to_owned();
            let counts = text.lines().filter(|line| line.starts_with("taquin_search_seconds_count{"));
            searches += counts.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>();
        }
        searches
    }
}

/// The moves of the trail, made from the board of the hint.
fn end_of_trail(reply: &Value) -> Vec<Vec<u64>> {
    let mut board = grid_of(&reply["start"]);
    for mv in reply["trail"].as_str().expect("a trail").chars() {
        assert!(slide(&mut board, mv).is_some(), "{reply}");
    }
    board
}

fn length_of(reply: &Value) -> usize {
    reply["length"].as_u64().expect("a length") as usize
}

#[tokio::test]
async fn every_hint_on_a_10x10_board_is_one_nearer_whichever_replica_answers() {
    let mut replicas = Replicas::start(48).await;
    let before = replicas.searches().await;
    let seeds = ["a", "b", "c"];
    for seed in seeds {
        let mut question = replicas.random_board(10, seed).await;
        question["limits"] = json!({ "time_ms": 300 });
        let mut reply = replicas.hint(&question).await.json();
        while !reply["move"].is_null() {
            assert_eq!(end_of_trail(&reply), grid_of(&reply["goal"]));
            question["board"] = reply["board"].clone();
            question["trail"] = reply["trail"].clone();
            let next = replicas.hint(&question).await.json();
            // A shortcut between two boards of the trail is taken.
            assert!(length_of(&next) < length_of(&reply), "{next}");
            reply = next;
        }
        assert_eq!((&reply["start"], &reply["move"]), (&reply["goal"], &Value::Null));
    }
    assert_eq!(replicas.searches().await - before, seeds.len() as u64, "one search for each board");
}

#[tokio::test]
async fn a_player_who_strays_is_led_to_the_goal_all_the_same() {
    let mut replicas = Replicas::start(5).await;
    let mut question = replicas.random_board(6, "stray").await;
    question["limits"] = json!({ "time_ms": 100 });
    let mut reply = replicas.hint(&question).await.json();
    let mut strayed = 0;
    while !reply["move"].is_null() {
        let (remaining, hinted) = (length_of(&reply) - 1, reply["move"].as_str().expect("a move").to_owned());
        let mut board = grid_of(&reply["start"]);
        let other = ["U", "L", "D", "R"][replicas.below(4)].chars().next().expect("a letter");
        let strays = strayed < 5 && !hinted.starts_with(other) && slide(&mut board, other).is_some();
        strayed += usize::from(strays);
        question["board"] = if strays { json!(board) } else { reply["board"].clone() };
        question["trail"] = reply["trail"].clone();
        reply = replicas.hint(&question).await.json();
        // At worst the move is undone.
        let most = if strays { remaining + 2 } else { remaining };
        assert!(length_of(&reply) <= most, "{reply}");
        let is_shortcut = length_of(&reply) < remaining;
        assert!(!strays || is_shortcut || reply["search"].is_object(), "{reply}");
        assert_eq!(end_of_trail(&reply), grid_of(&reply["goal"]));
    }
    assert_eq!(strayed, 5);
}

#[tokio::test]
async fn a_15_puzzle_is_followed_in_proven_hints() {
    let mut replicas = Replicas::start(15).await;
    let mut question = json!({ "board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", "goal": "blank_first" });
    for with_trail in [true, false] {
        question["board"] = json!("14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3");
        question["trail"] = Value::Null;
        for left in (0..=57).rev() {
            let reply = replicas.hint(&question).await.json();
            assert_eq!((length_of(&reply), &reply["optimal"]), (left, &json!(true)));
            question["board"] = reply["board"].clone();
            if with_trail {
                let followed = question["trail"].as_str().is_none_or(|trail| trail[1..] == reply["trail"]);
                assert!(followed, "one of several optimal solutions: {reply}");
                question["trail"] = reply["trail"].clone();
            }
        }
    }
}

#[tokio::test]
async fn a_trail_may_be_sent_unchanged() {
    let mut replicas = Replicas::start(3).await;
    let mut question = replicas.random_board(7, "unchanged").await;
    question["limits"] = json!({ "time_ms": 200 });
    let first = replicas.hint(&question).await.json();
    question["trail"] = first["trail"].clone();
    let mut board = grid_of(&first["start"]);
    for (at, mv) in first["trail"].as_str().expect("a trail").chars().enumerate() {
        if at % 17 == 0 {
            question["board"] = json!(board);
            let reply = replicas.hint(&question).await.json();
            assert_eq!((length_of(&reply), reply["move"].as_str()), (length_of(&first) - at, Some(&*mv.to_string())));
        }
        assert!(slide(&mut board, mv).is_some());
    }
}

#[tokio::test]
async fn a_trail_by_get_goes_on_as_well() {
    let mut replicas = Replicas::start(9).await;
    let mut question = replicas.random_board(10, "get").await;
    question["limits"] = json!({ "time_ms": 100 });
    let first = replicas.hint(&question).await.json();
    (question["board"], question["trail"]) = (first["board"].clone(), first["trail"].clone());
    let mut without_search = 0;
    for client in &replicas.clients {
        let reply = client.send(Question::get_as("/hint", &question)).await.expect(200).json();
        assert_eq!(length_of(&reply), length_of(&first) - 1);
        without_search += usize::from(reply["search"].is_null());
        let text = client.send(Question::get_as("/hint", &question).accept("text/plain")).await.expect(200);
        assert_eq!(text.text().ends_with("along the trail, without a search\n"), reply["search"].is_null(), "{text}");
    }
    assert_eq!(without_search, 1, "the other one has searched for the first hint");
}
