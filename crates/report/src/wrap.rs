//! Breaking text into lines.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Terminal columns that a text takes.
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// Breaks a text into lines of at most `width` terminal columns; at least one line, possibly empty.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_by(text, width.max(1) as f64, &|piece| display_width(piece) as f64)
}

/// After these a word that is too long for a line may end one: identifiers are words joined by
/// them.
const JOINTS: [char; 4] = ['-', '+', '/', '_'];

/// The pieces of a text that are never broken if each has room for itself.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|word| word.split_inclusive(JOINTS))
}

/// Breaks a text into lines for which `measure` is at most `limit`: at line breaks, then at spaces,
/// then within a word that is too long for a line of its own, after a hyphen or the like if there
/// is one.
pub(crate) fn wrap_by(text: &str, limit: f64, measure: &dyn Fn(&str) -> f64) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if measure(&longer) <= limit {
                line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for c in word.chars() {
                let longer = format!("{line}{c}");
                // A mark of no width stays with its letter, and one letter is a line however
                // narrow.
                if measure(&longer) > limit && !line.is_empty() && c.width().unwrap_or(0) > 0 {
                    let joint = line.rfind(JOINTS).map_or(line.len(), |joint| joint + 1);
                    let rest = line.split_off(joint);
                    lines.push(std::mem::replace(&mut line, rest));
                    line.push(c);
                } else {
                    line = longer;
                }
            }
        }
        lines.push(line);
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_inside_long_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("clones-numerical+kov x", 12), ["clones-", "numerical+", "kov x"]);
        assert_eq!(wrap("a -bcdefgh", 4), ["a", "-", "bcde", "fgh"]);
        assert_eq!(pieces("two-level pld+kov").collect::<Vec<_>>(), ["two-", "level", "pld+", "kov"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("a\nb", 5), ["a", "b"]);
        assert_eq!(wrap("数学数学", 4), ["数学", "数学"]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
    }
}
