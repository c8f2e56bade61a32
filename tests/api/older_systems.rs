//! The table of four older systems in docs/GUIDE.md: the service responds to each request with the figures of its row,
//! and they are the figures of the original where these are stated.

use serde_json::Value;

use crate::client::{shared, unchecked};
use crate::question::Question;

const GUIDE: &str = include_str!("../../docs/GUIDE.md");

/// The cells of the rows: system, question, request, figures of Taquin, figures of the original.
fn rows() -> Vec<[&'static str; 5]> {
    let table = GUIDE.split("### Figures of four older systems").nth(1).expect("the section");
    let lines = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let cells = |line: &'static str| line.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>();
    lines.take_while(|line| line.starts_with('|')).map(|line| cells(line).try_into().expect("five cells")).collect()
}

/// The figures of a cell such as `` `length` 7, `search.expanded` 10 ``, by the names of members.
fn figures(cell: &str) -> Vec<(&str, Value)> {
    let parts = cell.split('`').skip(1).collect::<Vec<_>>();
    let value = |text: &str| serde_json::from_str(text.trim().trim_end_matches(',')).expect(cell);
    parts.chunks(2).map(|part| (part[0], value(part[1]))).collect()
}

/// The member of a reply that a name such as `states.0.f` names.
fn member<'r>(reply: &'r Value, name: &str) -> &'r Value {
    reply.pointer(&format!("/{}", name.replace('.', "/"))).unwrap_or_else(|| panic!("no {name} in {reply}"))
}

#[tokio::test]
async fn each_row_of_the_older_systems_has_the_figures_of_the_reply_and_of_the_original() {
    let taquin = shared().await;
    let rows = rows();
    assert_eq!(rows.len(), 18, "{rows:?}");
    let mut stated = 0;
    for [system, question, request, ours, original] in rows {
        // The contract describes boards in rows, not positions.
        let reply = unchecked(taquin.addr(), &Question::get(request.trim_matches('`'))).await.expect(200);
        let figures = figures(ours);
        if figures.is_empty() {
            assert_eq!(reply.text().trim(), ours, "{system}: {question}");
            continue;
        }
        for (name, value) in &figures {
            assert_eq!(member(&reply.json(), name), value, "{system}: {question}: {name}");
        }
        let values: Vec<&Value> = figures.iter().map(|(_, value)| value).collect();
        if let Ok(Value::Array(theirs)) = serde_json::from_str(&format!("[{original}]")) {
            assert_eq!(theirs.iter().collect::<Vec<_>>(), values, "{system}: {question}");
            stated += 1;
        }
    }
    assert_eq!(stated, 10, "rows with figures of the original");
}
