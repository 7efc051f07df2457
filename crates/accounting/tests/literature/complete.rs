//! That the page and the tests are about the same things.

use crate::page::{PAGE, row_ids};

/// All sources in which rows are recomputed, each with the name that the page uses for it.
const SOURCES: [(&str, &str); 6] = [
    ("literature", include_str!("check_in.rs")),
    ("literature", include_str!("enhanced.rs")),
    ("literature", include_str!("girgis.rs")),
    ("literature", include_str!("shuffle_gaussian.rs")),
    ("literature", include_str!("software.rs")),
    ("brute_force", include_str!("../brute_force/refuted.rs")),
];

#[test]
fn every_row_is_recomputed() {
    let ids = row_ids();
    assert!(ids.len() > 30, "{}", ids.len());
    for id in ids {
        let named = SOURCES
            .iter()
            .filter(|(_, source)| [format!("\"{id}\""), format!("`{id}`")].iter().any(|name| source.contains(name)))
            .count();
        assert_eq!(named, 1, "{id} is recomputed in {named} files");
    }
}

#[test]
fn every_test_that_the_page_names_exists() {
    let mut named = 0;
    for (file, source) in SOURCES {
        let functions = PAGE.split('`').filter_map(|code| code.strip_prefix(file)?.strip_prefix("::"));
        for function in functions {
            named += usize::from(source.contains(&format!("\nfn {function}() {{")));
        }
    }
    let mentioned =
        PAGE.split('`').filter(|code| code.starts_with("literature::") || code.starts_with("brute_force::"));
    assert_eq!(named, mentioned.count(), "a test is named that does not exist, or exists twice");
}

/// A section with a table says which test recomputes it.
#[test]
fn every_table_names_its_test() {
    for section in PAGE.split("\n### ").skip(1) {
        let title = section.lines().next().unwrap_or_default();
        let tests = section.matches("`literature::").count() + section.matches("`brute_force::").count();
        assert_eq!(section.contains("\n| `"), tests > 0, "{title}: {tests} tests");
    }
}
