//! Citations in running text that become links: arXiv numbers, DOIs and addresses.
//!
//! Only these three become links, and only with `https`: no text can make a page point anywhere
//! else in disguise, because the text of a link is the citation itself.

use crate::escape;

/// A stretch of text that is a citation, and where it leads.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    /// Bytes of the text that the link covers.
    length: usize,
    address: String,
}

/// The text escaped for HTML, its citations as links.
pub(crate) fn linked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut plain = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let starts_word = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '/' && c != '.');
        match starts_word.then(|| link(rest)).flatten() {
            Some(Link { length, address }) => {
                out.push_str(&escape::html(&text[plain..at]));
                let (address, cited) = (escape::html(&address), escape::html(&rest[..length]));
                out.push_str(&format!("<a href=\"{address}\">{cited}</a>"));
                at += length;
                plain = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    out.push_str(&escape::html(&text[plain..]));
    out
}

fn link(rest: &str) -> Option<Link> {
    arxiv(rest).or_else(|| doi(rest)).or_else(|| address(rest))
}

/// "arXiv 2012.12803", "arXiv:2012.12803v3".
fn arxiv(rest: &str) -> Option<Link> {
    let head = rest.get(..5).filter(|head| head.eq_ignore_ascii_case("arxiv"))?;
    let mark = rest[head.len()..].chars().next().filter(|c| matches!(c, ' ' | ':' | '\u{a0}'))?;
    let start = head.len() + mark.len_utf8();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let number = &rest[start..];
    let (month, dot) = (digits(number), digits(number) + 1);
    if month != 4 || number.as_bytes().get(month) != Some(&b'.') {
        return None;
    }
    let serial = digits(&number[dot..]);
    if !(4..=5).contains(&serial) {
        return None;
    }
    let mut length = dot + serial;
    if number[length..].starts_with('v') {
        let version = digits(&number[length + 1..]);
        length += if version > 0 { version + 1 } else { 0 };
    }
    if number[length..].chars().next().is_some_and(char::is_alphanumeric) {
        return None;
    }
    Some(Link { length: start + length, address: format!("https://arxiv.org/abs/{}", &number[..length]) })
}

/// "doi:10.1145/3460120", "10.1145/3460120".
fn doi(rest: &str) -> Option<Link> {
    let prefix = ["doi:", "DOI:", "doi ", "DOI ", ""].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let name = &rest[prefix.len()..];
    let registrant = name.strip_prefix("10.")?.bytes().take_while(u8::is_ascii_digit).count();
    let slash = "10.".len() + registrant;
    if !(4..=9).contains(&registrant) || name.as_bytes().get(slash) != Some(&b'/') {
        return None;
    }
    let length = end_of_address(name);
    (length > slash + 1)
        .then(|| Link { length: prefix.len() + length, address: format!("https://doi.org/{}", &name[..length]) })
}

/// "https://…".
fn address(rest: &str) -> Option<Link> {
    let host = rest.strip_prefix("https://")?;
    host.starts_with(|c: char| c.is_ascii_alphanumeric()).then(|| {
        let length = end_of_address(rest);
        Link { length, address: rest[..length].to_owned() }
    })
}

/// Where an address ends: at a character that none has, and before the punctuation of the sentence
/// around it.
fn end_of_address(text: &str) -> usize {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&*+,;=%()".contains(c);
    let mut end = text.find(|c| !allowed(c)).unwrap_or(text.len());
    loop {
        let kept = &text[..end];
        let Some(last) = kept.chars().next_back() else { return end };
        let unmatched = last == ')' && kept.matches(')').count() > kept.matches('(').count();
        if !unmatched && !".,;:!?".contains(last) {
            return end;
        }
        end -= last.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Vec<String> {
        linked(text).split("href=\"").skip(1).map(|part| part.split('"').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn citations_lead_to_their_source() {
        assert_eq!(
            linked("Feldman, McMillan, Talwar 2021 (arXiv 2012.12803), Theorem 3.1"),
            "Feldman, McMillan, Talwar 2021 (<a href=\"https://arxiv.org/abs/2012.12803\">arXiv 2012.12803</a>), \
             Theorem 3.1"
        );
        for (text, expected) in [
            ("arXiv:2107.08763v2.", "https://arxiv.org/abs/2107.08763v2"),
            ("see doi:10.1145/3460120.3484794, p. 3", "https://doi.org/10.1145/3460120.3484794"),
            ("(10.1007/978-3(1))", "https://doi.org/10.1007/978-3(1)"),
            ("https://example.org/a?b=1&c=2.", "https://example.org/a?b=1&amp;c=2"),
            ("https://arxiv.org/abs/2012.12803", "https://arxiv.org/abs/2012.12803"),
            ("https://doi.org/10.1145/12", "https://doi.org/10.1145/12"),
        ] {
            assert_eq!(addresses(text), [expected], "{text}");
        }
    }

    #[test]
    fn other_text_stays_text() {
        for text in [
            "arXiv",
            "arXiv 2012",
            "arXiv 2012.128",
            "arXiv 2012.128034",
            "the number 10.5/3",
            "10.1145/",
            "javascript:alert(1)",
            "http://example.org",
            "https://",
            "xhttps://example.org",
            "ε ≤ 10.1145",
            "arXivε 2012.12803",
        ] {
            assert_eq!(linked(text), escape::html(text), "{text}");
        }
        assert_eq!(addresses("https://example.org/\"onclick=\"alert(1)"), ["https://example.org/"]);
    }
}
