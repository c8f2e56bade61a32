//! Comments in text with boards.

use taquin_solver::{Sides, read_board};

/// Returns true for a line that is only a comment: a text that begins with `#`, `//` or `%` and has no reading as a
/// board. On boards, `#` can be the blank.
pub(super) fn is_comment(line: &[u8]) -> bool {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii_start();
    let is_marked = matches!(line, [b'#' | b'%', ..] | [b'/', b'/', ..]);
    is_marked && std::str::from_utf8(line).is_ok_and(|line| read_board(line, Sides::default()) == Err(Vec::new()))
}

/// Returns true for a line of CSV that is only a comment. The column of an id can have the name `#`.
pub(super) fn is_csv_comment(line: &[u8]) -> bool {
    let after = line.iter().skip_while(|byte| byte.is_ascii_whitespace()).nth(1);
    !matches!(after, Some(b',' | b';' | b'|' | b'\t')) && is_comment(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_boards() {
        for line in ["# Korf 1985", "#", "##", "  // 3x3", "% 57", "#id 3", "\u{feff}# a", "#3", "# - - - -"] {
            assert!(is_comment(line.as_bytes()), "{line}");
        }
        for line in ["", " ", "3 1 2 0", "# 1 2 3", "# 1 2 3 0", "#123", "3 1/2 #", "/", "\"#\"", "/1 2/3 0"] {
            assert!(!is_comment(line.as_bytes()), "{line}");
        }
        assert!(is_csv_comment(b"# id, board") && !is_csv_comment(b"#,board") && !is_csv_comment(b"#\tboard"));
    }
}
