//! This crate speaks of parameters. Which flag, keyword or field sets one is for the front ends to
//! say.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The string literals of a source file; comments are left out.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let tail = &rest[at..];
        if tail.starts_with("//") {
            rest = &tail[tail.find('\n').unwrap_or(tail.len())..];
        } else if tail.starts_with("'\"'") || tail.starts_with("'\\''") {
            // A character that would be taken for the beginning of a literal.
            rest = &tail[tail[1..].find('\'').map_or(tail.len(), |end| end + 2)..];
        } else if let Some(text) = tail.strip_prefix('"') {
            let mut is_escaped = false;
            let end = text.find(|c| {
                let is_end = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            let end = end.expect("a literal that ends");
            found.push(text[..end].to_owned());
            rest = &text[end + 1..];
        } else {
            rest = &tail[1..];
        }
    }
    found
}

/// Whether a text names something like `--delta`.
fn names_a_flag(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        !before.is_some_and(|c| c == '-' || c.is_alphanumeric()) && after.is_some_and(|c| c.is_ascii_lowercase())
    })
}

#[test]
fn no_text_names_a_flag() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 50, "{} files", files.len());
    let mut count = 0;
    for file in files {
        for text in literals(&fs::read_to_string(&file).expect("a source")) {
            count += 1;
            assert!(!names_a_flag(&text), "{} names a flag: {text:?}", file.display());
        }
    }
    assert!(count > 300, "{count} literals");
}

/// That the test can fail.
#[test]
fn a_flag_would_be_found() {
    let source = "// --in-a-comment\nlet c = '\"'; f(\"say \\\"it\\\" with --randomizer\", \"a--b\", \"--delta\");";
    let literals = literals(source);
    assert_eq!(literals.len(), 3, "{literals:?}");
    assert_eq!(literals.iter().map(|text| names_a_flag(text)).collect::<Vec<_>>(), [true, false, true]);
}
