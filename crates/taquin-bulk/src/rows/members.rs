//! Selects the members of a row that are read. Files of other programs have other names for some of these members.

use taquin_solver::RawBoard;

use crate::fields::{BOARD_FIELDS, Json, aliased_field, concat, id_json, is_misspelt};

/// The fields of a row.
pub(crate) const FIELDS: [&str; BOARD_FIELDS.len() + 1] = concat(&[&BOARD_FIELDS, &["id"]]);

/// Names of the board in files of other programs. A name counts if the row has no other of these names, and no `board`.
pub(crate) const BOARD_NAMES: [&str; 5] = ["state", "puzzle", "tiles", "initial", "start"];

/// Names of the id in files of other programs. If a row has several of these names, the first one in this list counts.
/// Output lines of this program have the member `index` too.
pub(crate) const ID_NAMES: [&str; 3] = ["index", "name", "#"];

/// Names of parameters that apply to all rows of a batch. A row must not have members with these names.
const OF_ALL_ROWS: [&str; 2] = ["want", "limits"];

/// The members of a row that are read, each under the name of its field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Members {
    /// The selected members. The field reader reports each member whose name is not in [`FIELDS`].
    pub(crate) fields: Vec<(String, Json)>,
    /// The name in [`BOARD_NAMES`] that was replaced by `board`; `None` if no name was replaced.
    pub(crate) board_name: Option<&'static str>,
}

impl Members {
    /// Selects the members of a row, and renames the board and the id to `board` and `id`. If the row has a board,
    /// unknown members are dropped. However, a member of [`OF_ALL_ROWS`], or a member that may be a mistake for a
    /// field, is kept. The field reader later reports this member, so that its value is not silently ignored.
    pub(crate) fn select(mut members: Vec<(String, Json)>) -> Self {
        let board_name = if has(&members, "board") { None } else { only(&members, &BOARD_NAMES) };
        if let Some(name) = board_name {
            members.retain(|(own, _)| own != "board");
            rename(&mut members, name, "board");
        }
        if !has(&members, "id")
            && let Some(name) = ID_NAMES.iter().find(|name| has(&members, name))
            && members.iter().any(|(own, id)| own == name && id_json(id).is_some())
        {
            members.retain(|(own, _)| own != "id");
            rename(&mut members, name, "id");
        }
        if has(&members, "board") {
            let cells = members.iter().find(|(name, _)| name == "board").map_or(Cells::Rows, |(_, board)| cells(board));
            members.retain(|(name, value)| FIELDS.contains(&&**name) || is_mistake(name, value, cells));
        }
        Self { fields: members, board_name }
    }
}

/// True if a row has a member, and the member is not null.
fn has(members: &[(String, Json)], name: &str) -> bool {
    members.iter().any(|(own, value)| own == name && *value != Json::Null)
}

/// Returns the name in `names` that a row has; `None` if the row has none or several of them.
fn only(members: &[(String, Json)], names: &[&'static str]) -> Option<&'static str> {
    let mut found = names.iter().filter(|name| has(members, name));
    found.next().filter(|_| found.next().is_none()).copied()
}

fn rename(members: &mut [(String, Json)], from: &str, to: &str) {
    members.iter_mut().filter(|(name, _)| name == from).for_each(|(name, _)| to.clone_into(name));
}

/// The form of a board. Rows determine the shape of the board, and a flat list does not.
#[derive(Clone, Copy)]
enum Cells {
    Rows,
    /// A flat list with this number of cells.
    Flat(usize),
}

fn cells(board: &Json) -> Cells {
    match board {
        Json::Array(cells) if !cells.iter().any(|cell| matches!(cell, Json::Array(_) | Json::String(_))) => {
            Cells::Flat(cells.len())
        }
        Json::String(text) => match RawBoard::parse(text) {
            RawBoard { entries, row_lengths: None } => Cells::Flat(entries.len()),
            _ => Cells::Rows,
        },
        _ => Cells::Rows,
    }
}

/// True if a member may be a mistake for a field, so that the row would be read in another way than the writer of the
/// row meant.
fn is_mistake(name: &str, value: &Json, cells: Cells) -> bool {
    let is_other_shape = |cells: usize| {
        let side = if let Json::Integer(side) = value { usize::try_from(*side).ok() } else { None };
        side.and_then(|side| side.checked_mul(side)) != Some(cells)
    };
    if OF_ALL_ROWS.contains(&name) || is_misspelt(name, &FIELDS) {
        return true;
    }
    match (aliased_field(name, &FIELDS), cells) {
        // The side of a square adds nothing to a flat list.
        (Some("rows" | "cols"), Cells::Flat(cells)) => is_other_shape(cells),
        // A number is a label, such as `target`.
        (Some("goal" | "encoding"), _) => matches!(value, Json::String(_) | Json::Array(_) | Json::Object(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the selected members, and the name of the board.
    fn select(row: &str) -> (String, Option<&'static str>) {
        let Ok(Json::Object(members)) = Json::parse(row) else { panic!("{row}") };
        let Members { fields, board_name } = Members::select(members);
        (fields.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" "), board_name)
    }

    #[test]
    fn members_that_no_field_lacks_are_dropped() {
        for (row, names) in [
            (r#"{"board":"3120","cost":4,"moves":"RRDD","h":2,"line":3,"path":[1,2]}"#, "board"),
            (r#"{"index":3,"board":[[1,2],[3,0]],"length":0,"optimal":true}"#, "id board"),
            (r#"{"id":"a","index":3,"name":"b","board":"3120"}"#, "id board"),
            (r##"{"#":3,"board":"3120","state":"1230"}"##, "id board"),
            (r#"{"name":1.5,"board":"3120"}"#, "board"),
            (r#"{"board":[3,1,2,0],"size":2,"width":2,"dimension":2,"target":31}"#, "board"),
            (r#"{"board":[[3,1],[2,0]],"size":"2x2","height":9}"#, "board"),
        ] {
            assert_eq!(select(row), (names.to_owned(), None), "{row}");
        }
    }

    #[test]
    fn mistakes_are_kept() {
        for (row, names) in [
            (r#"{"board":"3120","bord":1,"Goal":"x","gaol":"y","row":2,"colls":2}"#, "board bord Goal gaol row colls"),
            (r#"{"board":[1,2,3,4,5,0,6,7],"width":4,"size":[2,4]}"#, "board width size"),
            (r#"{"board":"3120","target":"0123","end":[0,1,2,3],"format":"positions"}"#, "board target end format"),
            (r#"{"board":"3120","want":"moves","limits":{}}"#, "board want limits"),
            (r#"{"value":"3120","result":4}"#, "value result"),
            (r#"{"state":"3120","start":"1230","cost":3}"#, "state start cost"),
        ] {
            assert_eq!(select(row), (names.to_owned(), None), "{row}");
        }
    }

    #[test]
    fn a_board_has_many_names() {
        for name in BOARD_NAMES {
            let row = format!(r#"{{"{name}":"3120","cost":4,"board":null}}"#);
            assert_eq!(select(&row), ("board".to_owned(), Some(name)));
        }
    }
}
