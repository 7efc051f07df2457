//! Reads the tables of `docs/errors-in-the-literature.md`, so that no number can stand there that a
//! test did not recompute.

/// The page as it is published.
pub(crate) const PAGE: &str = include_str!("../../../../docs/errors-in-the-literature.md");

/// Cells of the row whose first cell is `` `id` ``: claimed and true.
fn cells(id: &str) -> (&'static str, &'static str) {
    let first = format!("| `{id}` |");
    let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with(&first)).collect();
    assert_eq!(rows.len(), 1, "the page has {} rows called {id}", rows.len());
    let cells: Vec<&str> = rows[0].split('|').map(str::trim).collect();
    assert_eq!(cells.len(), 7, "five cells and two borders: {}", rows[0]);
    (cells[3], cells[4])
}

/// True if `value` rounds to what is printed: it differs by at most half a unit of the last printed
/// digit.
///
/// A hair more is allowed for a tie, since which way it is rounded is a matter of taste.
fn agrees(printed: &str, value: f64) -> bool {
    if printed == "∞" {
        return value.is_infinite() && value > 0.0;
    }
    let printed = printed.replace('−', "-").replace(',', "");
    let Ok(number) = printed.parse::<f64>() else { panic!("not a number: {printed}") };
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let unit = 10_f64.powi(exponent.parse::<i32>().expect("a power of ten") - decimals);
    (value - number).abs() <= 0.500_001 * unit
}

/// Asserts that the page's row `id` prints these two numbers.
#[track_caller]
pub(crate) fn row(id: &str, claimed: f64, truth: f64) {
    let printed = cells(id);
    assert!(agrees(printed.0, claimed), "{id}: {} is claimed on the page, {claimed:e} by the formula", printed.0);
    assert!(agrees(printed.1, truth), "{id}: {} is true on the page, {truth:e} by computation", printed.1);
}

/// The identifiers of all rows of all tables.
pub(crate) fn row_ids() -> Vec<&'static str> {
    PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(id, _)| id)).collect()
}

#[test]
fn printed_digits_are_what_counts() {
    assert!(agrees("0.049", 0.0494) && !agrees("0.049", 0.0496) && !agrees("0.049", 0.0484));
    assert!(agrees("2.47e-3", 2.468e-3) && !agrees("2.47e-3", 2.476e-3));
    assert!(agrees("−1.7e-8", -1.66e-8) && !agrees("−1.7e-8", 1.66e-8));
    assert!(agrees("∞", f64::INFINITY) && !agrees("∞", f64::NEG_INFINITY) && !agrees("0", f64::NAN));
    assert!(agrees("13,706", 13_706.0) && agrees("0", 0.0) && !agrees("0", 1.0));
}
