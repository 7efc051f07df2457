//! The tables of docs/command-line.md are those of the code. `WRITE_DOCS=1` writes them.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_question::Spelling;
use shuffledp_question::parameter::PARAMETERS;
use shuffledp_question::randomizers::{Deployable, RANDOMIZERS};
use std::path::Path;

fn parameters() -> String {
    let mut table = "| flag | meaning | accepted | default |\n|---|---|---|---|\n".to_owned();
    for row in &PARAMETERS {
        let default = row.default.unwrap_or("");
        table += &format!("| `--{} {}` | {} | {} | {default} |\n", row.name, row.letter, row.help, row.range);
    }
    table
}

fn randomizers() -> String {
    let mut table =
        "| randomizer | parameters | meaning | one report is | may be deployed |\n|---|---|---|---|---|\n".to_owned();
    for row in &RANDOMIZERS {
        let flags = row.parameters.iter().map(|parameter| Spelling::Flags.name(*parameter));
        let optional = row.optional.iter().map(|parameter| format!("[{}]", Spelling::Flags.name(*parameter)));
        let parameters = flags.chain(optional).collect::<Vec<_>>().join(" ");
        let deployable = match row.deployable {
            Deployable::Yes => "yes".to_owned(),
            Deployable::Instead(other) => format!("no: `{other}`"),
            Deployable::Class => "a class".to_owned(),
        };
        let local = row.local;
        table += &format!("| `{}` | `{parameters}` | {} | {local} | {deployable} |\n", row.name, row.sentence);
    }
    table
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command-line.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut written = text.clone();
    for (name, table) in [("parameters", parameters()), ("randomizers", randomizers())] {
        let (begin, end) = (format!("<!-- table: {name} -->\n"), "<!-- end -->");
        let from = written.find(&begin).unwrap_or_else(|| panic!("no table {name}")) + begin.len();
        let to = from + written[from..].find(end).unwrap();
        written.replace_range(from..to, &table);
    }
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    assert!(
        written == text,
        "docs/command-line.md is behind the tables: WRITE_DOCS=1 cargo test -p shuffledp-question"
    );
}
