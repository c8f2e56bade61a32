//! Comments in text with boards.

use taquin_solver::{Sides, read_board};

/// Returns true if a line is only a comment: it begins with `#`, `//` or `%`, and it cannot be read as a board. On a
/// board, `#` can be the blank. So a line of `#` and three or more numbers counts as a board, even if the board is
/// faulty.
pub(super) fn is_comment(line: &[u8]) -> bool {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii_start();
    let is_marked = matches!(line, [b'#' | b'%', ..] | [b'/', b'/', ..]);
    is_marked
        && !is_numbers(line.strip_prefix(b"#").unwrap_or_default())
        && std::str::from_utf8(line).is_ok_and(|line| read_board(line, Sides::default()) == Err(Vec::new()))
}

/// Returns true for a text of at least three numbers and nothing else.
fn is_numbers(text: &[u8]) -> bool {
    let is_separator = |byte: &u8| byte.is_ascii_whitespace() || b",;/|".contains(byte);
    let mut words = text.split(is_separator).filter(|word| !word.is_empty());
    let numbers = words.by_ref().take_while(|word| word.iter().all(u8::is_ascii_digit)).count();
    numbers >= 3 && words.next().is_none() && text.iter().all(|byte| is_separator(byte) || byte.is_ascii_digit())
}

/// Returns true for a line of CSV that is only a comment. A comment has white space after the marks, because ids such
/// as `#7` begin like comments. A line with a separator after the marks is not a comment, because the id column can
/// have the name `#`.
pub(super) fn is_csv_comment(line: &[u8]) -> bool {
    let marks = line.trim_ascii_start().iter().skip_while(|byte| b"#%/".contains(byte));
    let has_space = marks.clone().next().is_none_or(u8::is_ascii_whitespace);
    let begins_field = marks.clone().find(|byte| **byte != b' ').is_some_and(|byte| b",;|\t".contains(byte));
    has_space && !begins_field && is_comment(line)
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
        for line in ["# 1 2/3 4 5/6 7 7", "# 7 6 5 4 3 2 1", "# 1,2,3"] {
            assert!(!is_comment(line.as_bytes()), "a faulty board, or one of another shape: {line}");
        }
        for line in ["# made by hand, twice", "#", "// 3x3", "## a"] {
            assert!(is_csv_comment(line.as_bytes()), "{line}");
        }
        for line in ["#,board", "# ,board", "#\tboard", "#1,867254301", "%1,3120", "//a,3120", "#id,board"] {
            assert!(!is_csv_comment(line.as_bytes()), "{line}");
        }
    }
}
