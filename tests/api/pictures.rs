//! Pictures: boards, solutions and search trees as SVG, and search trees in DOT.

use std::collections::HashMap;

use roxmltree::{Document, Node};
use serde_json::{Value, json};

use crate::client::shared;
use crate::question::Question;
use crate::simulator::{Grid, grid, grid_of, notation};

const SVG: &str = "image/svg+xml";
const DOT: &str = "text/vnd.graphviz";
/// One of the two hardest boards of the 8-puzzle.
const HARD: &str = "8 6 7/2 5 4/3 0 1";
/// Most bytes of any picture.
const MOST_BYTES: usize = 400_000;

/// Asks for a picture, and checks what holds for all.
async fn picture(question: Question) -> String {
    let answer = shared().await.send(question.accept(SVG)).await.expect(200);
    assert_eq!(answer.header("content-type"), SVG);
    let text = answer.text().to_owned();
    assert!(text.len() < MOST_BYTES, "{} bytes", text.len());
    let document = Document::parse(&text).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    let has = |id: &str| document.descendants().any(|node| node.attribute("id") == Some(id));
    assert!(root.attribute("aria-labelledby").is_some_and(|ids| ids.split(' ').all(has)), "{text}");
    for node in document.descendants() {
        assert_ne!(node.tag_name().name(), "script");
        let own = |link: &str| link.strip_prefix('#').is_some_and(has);
        assert!(node.attribute("href").is_none_or(own), "{node:?}");
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{node:?}");
    }
    assert!(text.contains("prefers-color-scheme: dark") && !text.contains("url(") && !text.contains("@import"));
    let size = |name: &str| root.attribute(name).and_then(|size| size.parse::<f64>().ok()).expect("a size");
    let texts = document.descendants().filter(|node| node.has_tag_name("text") && node.ancestors().count() == 3);
    for text in texts {
        let at = |name: &str| text.attribute(name).and_then(|at| at.parse::<f64>().ok()).expect("a place");
        assert!(at("x") < size("width") && at("y") < size("height"), "{text:?}");
    }
    text
}

/// The numbers in `translate(16 16) scale(1.6)`.
fn numbers(transform: &str) -> Vec<f64> {
    transform.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|word| word.parse().ok()).collect()
}

/// The board that a group of tiles shows.
fn board_of(group: Node, rows: usize, cols: usize) -> Grid {
    let mut board = vec![vec![0; cols]; rows];
    for tile in group.children().filter(|node| node.has_tag_name("use")) {
        let place = |x: &str, y: &str| (x.parse::<usize>().unwrap() / 40, y.parse::<usize>().unwrap() / 40);
        let (col, row) = match tile.attribute("style") {
            Some(style) => {
                let at = numbers(style);
                place(&at[0].to_string(), &at[1].to_string())
            }
            None => place(tile.attribute("x").unwrap(), tile.attribute("y").unwrap()),
        };
        assert_eq!(board[row][col], 0, "two tiles in one cell");
        board[row][col] = tile.attribute("href").unwrap()[2..].parse().unwrap();
    }
    board
}

fn boards_of(text: &str, rows: usize, cols: usize) -> Vec<Grid> {
    let document = Document::parse(text).unwrap();
    let groups = document.descendants().filter(|node| node.attribute("class") == Some("tiles"));
    groups.map(|group| board_of(group, rows, cols)).collect()
}

/// Where each tile of the animated board is at the end.
fn end_of_animation(text: &str, start: &Grid) -> Grid {
    let size = (start.len(), start[0].len());
    let mut at: HashMap<u64, (usize, usize)> = HashMap::new();
    for (row, tiles) in start.iter().enumerate() {
        tiles.iter().enumerate().filter(|(_, tile)| **tile != 0).for_each(|(col, tile)| {
            at.insert(*tile, (row, col));
        });
    }
    for rule in text.split("@keyframes m").skip(1) {
        let (tile, rule) = rule.split_once(' ').unwrap();
        let last = numbers(rule.lines().next().unwrap().rsplit_once("translate(").unwrap().1);
        at.insert(tile.parse().unwrap(), (last[1] as usize / 40, last[0] as usize / 40));
    }
    let mut board = vec![vec![0; size.1]; size.0];
    at.into_iter().for_each(|(tile, (row, col))| board[row][col] = tile);
    board
}

#[tokio::test]
async fn boards_are_drawn_as_they_are() {
    let taquin = shared().await;
    for (rows, cols) in [(2, 2), (3, 3), (4, 5), (10, 2), (10, 10)] {
        let target = format!("/random?rows={rows}&cols={cols}&seed=a");
        let board = grid_of(&taquin.get(&target).await.expect(200).json()["board"]);
        for question in [
            Question::get(&target),
            Question::get(&format!("{target}&as=svg")),
            Question::get("/solvable").query("board", &notation(&board)),
            Question::post("/solvable").json(&json!({ "board": board })),
        ] {
            assert_eq!(boards_of(&picture(question).await, rows, cols), std::slice::from_ref(&board), "{target}");
        }
    }
    let exchanged = picture(Question::get("/solvable?board=123456870")).await;
    assert_eq!(boards_of(&exchanged, 3, 3), [grid("1 2 3/4 5 6/8 7 0")]);
}

#[tokio::test]
async fn an_image_element_gets_a_picture() {
    let of_an_image = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";
    for target in ["/random", "/solve?board=867254301", "/solvable?board=867254301"] {
        let answer = shared().await.send(Question::get(target).accept(of_an_image)).await.expect(200);
        assert_eq!(answer.header("content-type"), SVG, "{target}");
    }
}

#[tokio::test]
async fn a_solution_shows_its_states_and_slides_to_the_goal() {
    let taquin = shared().await;
    for body in [
        json!({ "board": HARD }),
        json!({ "board": HARD, "metric": "multi_tile" }),
        json!({ "board": "1 2 3/4 5 6/7 8 0" }),
        json!({ "board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", "goal": "blank_first" }),
        json!({ "board": "1 5/0 2/3 4" }),
        json!({ "board": HARD, "algorithm": "greedy_best_first", "heuristic": "manhattan" }),
    ] {
        let reply = taquin.solve(&body).await;
        let (start, goal) = (grid_of(&reply["start"]), grid_of(&reply["goal"]));
        let mut states = vec![start.clone()];
        for mv in reply["moves"].as_str().unwrap().chars() {
            let mut next = states.last().unwrap().clone();
            crate::simulator::slide(&mut next, mv);
            states.push(next);
        }
        let text = picture(Question::post("/solve").json(&body)).await;
        let drawn = boards_of(&text, start.len(), start[0].len());
        assert_eq!(drawn[0], start, "the large board");
        let every = (states.len() - 1).div_ceil(119).max(1);
        let last = states.len() - 1;
        let shown: Vec<Grid> =
            (0..=last).filter(|at| at % every == 0 || *at == last).map(|at| states[at].clone()).collect();
        assert_eq!(drawn[1..], shown);
        let is_animated = (1..=300).contains(&last);
        assert_eq!(text.contains("@keyframes"), is_animated);
        assert!(!is_animated || end_of_animation(&text, &start) == goal);
        assert!(!is_animated || text.contains("prefers-reduced-motion: no-preference"));
        let slid: Vec<u64> = text
            .split("class=\"slid\"")
            .map(|before| before.rsplit_once("#t").map_or("", |(_, t)| t))
            .filter_map(|tile| tile.trim_end_matches(['"', ' ']).parse().ok())
            .collect();
        assert!(every > 1 || json!(slid) == reply["tiles"], "{slid:?}");
    }
}

#[tokio::test]
async fn pictures_of_long_solutions_are_bounded() {
    let taquin = shared().await;
    let ten = json!({ "rows": 10, "cols": 10, "seed": "a", "as": "request" });
    let ten = taquin.send(Question::post("/random").json(&ten)).await.expect(200).json();
    let constructive = json!({ "board": ten["board"], "algorithm": "constructive" });
    let depth_first = json!({ "board": HARD, "algorithm": "depth_first" });
    for (body, most) in [(constructive, 41), (depth_first, 121)] {
        let text = picture(Question::post("/solve").json(&body)).await;
        let boards = text.matches("<g class=\"tiles\"").count();
        assert!(boards > 20 && boards <= most + 1, "{boards}");
        assert!(text.contains("Below: the start, the board after every "));
    }
}

#[tokio::test]
async fn a_tree_shows_the_first_generated_nodes_without_overlaps() {
    let taquin = shared().await;
    for (board, algorithm, heuristic) in [
        ("1 2 3/4 0 6/7 5 8", "breadth_first", None),
        ("1 2 3/4 5 6/7 8 0", "astar", None),
        ("7 2 4/5 0 6/8 3 1", "astar", Some("hamming")),
        ("7 2 4/5 0 6/8 3 1", "greedy_best_first", Some("manhattan")),
        ("1 2 3/4 0 6/7 5 8", "depth_first", None),
        ("1 2 3 4/5 6 7 8/9 10 0 12/13 14 11 15", "astar", Some("manhattan")),
    ] {
        let mut body = json!({ "board": board, "algorithm": algorithm, "include": ["generated"] });
        if let Some(heuristic) = heuristic {
            body["heuristic"] = json!(heuristic);
        }
        let reply = taquin.solve(&body).await;
        let nodes = reply["generated_nodes"].as_array().unwrap();
        let start = grid_of(&reply["start"]);
        let text = picture(Question::post("/solve").json(&body)).await;
        let drawn = boards_of(&text, start.len(), start[0].len());
        let most = 250.min(4_000 / (start.len() * start[0].len()));
        let expected: Vec<Grid> = nodes.iter().take(most).map(|node| grid_of(&node["board"])).collect();
        assert_eq!(drawn, expected);
        assert_eq!(text.matches("class=\"edge").count(), expected.len() - 1);
        let document = Document::parse(&text).unwrap();
        let places: Vec<Vec<f64>> = document
            .descendants()
            .filter(|node| node.attribute("class") == Some("tiles"))
            .map(|group| numbers(group.attribute("transform").unwrap()))
            .collect();
        let width = start[0].len() as f64 * 40.0 * places[0][2];
        for (at, one) in places.iter().enumerate() {
            let overlaps = |other: &Vec<f64>| other[1] == one[1] && (other[0] - one[0]).abs() < width;
            assert!(!places[..at].iter().any(overlaps), "{body}: node {at}");
        }
        let has_goal = nodes.iter().take(most).any(|node| node["verdict"] == "goal");
        assert_eq!(text.contains("frame goal"), has_goal);
        let marked = text.matches("edge solution").count();
        assert_eq!(marked, if has_goal { reply["length"].as_u64().unwrap() as usize } else { 0 });
        let figures = text.matches(", f ").count();
        assert_eq!(figures, if reply["search"]["heuristic"].is_null() { 0 } else { expected.len() });
    }
}

/// A graph in DOT.
#[derive(Default)]
struct Graph {
    /// By number of the node.
    labels: Vec<String>,
    /// Parent, child and move.
    edges: Vec<(u64, u64, String)>,
    bold: Vec<(u64, u64)>,
}

fn graph(text: &str) -> Graph {
    let Graph { mut labels, mut edges, mut bold } = Graph::default();
    assert!(text.starts_with("strict digraph search {\n") && text.ends_with("}\n"), "{text}");
    for line in text.lines().map(str::trim).filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let (item, attributes) = line.strip_suffix("];").unwrap().split_once(" [").unwrap();
        let label = attributes.strip_prefix("label=\"").map(|rest| rest.split_once('"').unwrap().0.to_owned());
        match (item.split_once(" -> "), label) {
            (Some((parent, child)), Some(label)) => {
                edges.push((parent.parse().unwrap(), child.parse().unwrap(), label))
            }
            (Some((parent, child)), None) => bold.push((parent.parse().unwrap(), child.parse().unwrap())),
            (None, label) => {
                assert_eq!(item, labels.len().to_string());
                labels.push(label.unwrap());
            }
        }
    }
    Graph { labels, edges, bold }
}

#[tokio::test]
async fn a_graph_has_every_generated_node() {
    let taquin = shared().await;
    for (board, algorithm, limit) in
        [("1 2 3/4 0 6/7 5 8", "breadth_first", 1), ("7 2 4/5 0 6/8 3 1", "astar", 1), (HARD, "breadth_first", 5_000)]
    {
        let body = json!({ "board": board, "algorithm": algorithm, "include": ["generated"] });
        let reply = taquin.solve(&body).await;
        let nodes = reply["generated_nodes"].as_array().unwrap();
        assert!(nodes.len() >= limit);
        let without_include = json!({ "board": board, "algorithm": algorithm });
        let answer = taquin.send(Question::post("/solve").json(&without_include).accept(DOT)).await.expect(200);
        assert_eq!(answer.header("content-type"), "text/vnd.graphviz; charset=utf-8");
        let Graph { labels, edges, bold } = graph(answer.text());
        assert_eq!(labels.len(), nodes.len());
        for (node, label) in nodes.iter().zip(&labels) {
            let (shown, figures) = label.split_once("\\ng ").unwrap();
            let shown = shown.replace("\\n", "/").replace('.', "0");
            assert_eq!(grid(&shown), grid_of(&node["board"]));
            assert!(figures.starts_with(&node["g"].to_string()));
        }
        let expected: Vec<(u64, u64, String)> = nodes
            .iter()
            .filter(|node| !node["parent"].is_null())
            .map(|node| {
                (node["parent"].as_u64().unwrap(), node["id"].as_u64().unwrap(), node["move"].as_str().unwrap().into())
            })
            .collect();
        assert_eq!(edges, expected);
        let moves: String =
            bold.iter().map(|edge| &*edges.iter().find(|(from, to, _)| (*from, *to) == *edge).unwrap().2).collect();
        let has_goal = nodes.iter().any(|node| node["verdict"] == "goal");
        assert_eq!(json!(moves), if has_goal { reply["moves"].clone() } else { json!("") });
        let is_whole = reply["search"]["generated"] == nodes.len();
        assert_eq!(answer.text().contains(&format!("the first {} generated nodes", nodes.len())), !is_whole);
    }
}

#[tokio::test]
async fn what_a_picture_does_not_show_is_rejected() {
    let taquin = shared().await;
    let fifteen = "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15";
    for (accept, body, pointer) in [
        (DOT, json!({ "board": fifteen }), "/algorithm"),
        (DOT, json!({ "board": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 0, 14, 15]] }), "/algorithm"),
        (DOT, json!({ "board": fifteen, "algorithm": "ida_star" }), "/algorithm"),
        (DOT, json!({ "board": fifteen, "include": ["generated"] }), "/include"),
        (SVG, json!({ "board": fifteen, "include": ["generated"] }), "/include"),
        (DOT, json!({ "board": HARD, "metric": "multi_tile" }), "/metric"),
        (SVG, json!({ "board": HARD, "include": ["states"] }), "/include"),
        (SVG, json!({ "board": HARD, "include": ["progress"] }), "/include"),
        (DOT, json!({ "board": HARD, "include": ["expansions"] }), "/include"),
        (SVG, json!({ "board": HARD, "solutions": { "max": 2 } }), "/solutions"),
        (SVG, json!({ "board": HARD, "output_encoding": "positions" }), "/output_encoding"),
        (SVG, json!({ "board": HARD, "width": 80 }), "/width"),
    ] {
        let question = Question::post("/solve").json(&body).accept(accept);
        let problem = taquin.send(question).await.problem("unsupported-combination");
        let pointers: Vec<&Value> =
            problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
        assert_eq!(pointers, [pointer], "{problem}");
    }
    let problem = taquin.get("/random?as=svg&count=2").await.problem("unsupported-combination");
    assert_eq!(problem["errors"][0]["pointer"], "/as");
    let stopped = json!({ "board": HARD, "algorithm": "breadth_first", "limits": { "expanded": 10 } });
    for accept in [SVG, DOT] {
        let problem = taquin.send(Question::post("/solve").json(&stopped).accept(accept)).await;
        problem.problem("search-limit-exceeded");
    }
}

#[tokio::test]
async fn pictures_are_cached_by_their_tag() {
    let taquin = shared().await;
    for (target, accept) in [
        ("/solve?board=867254301", SVG),
        ("/solve?board=123406758&algorithm=breadth_first", DOT),
        ("/random?seed=a", SVG),
        ("/solvable?board=867254301", SVG),
    ] {
        let first = taquin.send(Question::get(target).accept(accept)).await.expect(200);
        let again = Question::get(target).accept(accept).header("if-none-match", first.header("etag"));
        taquin.send(again).await.expect(304);
    }
}
