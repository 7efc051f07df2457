//! Text made safe for the format it is put into.

/// Escapes text for HTML, inside elements and inside quoted attributes.
///
/// Control characters, which no HTML or XML document may contain, become U+FFFD.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(printable(c)),
        }
    }
    out
}

/// The character, or U+FFFD where XML forbids it.
pub(crate) fn printable(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => c,
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    }
}

/// One CSV record, quoted as RFC 4180 says. Lines end in `\n` alone, as Unix tools expect.
pub(crate) fn csv_record<S: AsRef<str>>(fields: impl IntoIterator<Item = S>, out: &mut String) {
    for (i, field) in fields.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let field = field.as_ref();
        if field.contains(['"', ',', '\n', '\r']) || field != field.trim() {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_what_needs_it() {
        let mut out = String::new();
        csv_record(["plain", "a,b", "say \"hi\"", "two\nlines", " padded", ""], &mut out);
        assert_eq!(out, "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\" padded\",\n");
    }

    #[test]
    fn html_has_no_way_out() {
        assert_eq!(html("<script>'\"&\u{0}"), "&lt;script&gt;&#39;&quot;&amp;\u{fffd}");
    }
}
