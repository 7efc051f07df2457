//! A privacy profile as text.

use shuffledp_accounting::profile::ProfilePoints;

/// The points of a profile: a line for each, ε and δ with a comma between them. A first line of
/// words is a heading; empty lines and those that begin with `#` are passed over.
pub fn profile_of_text(text: &str) -> Result<ProfilePoints, String> {
    ProfilePoints::new(&points(text)?).map_err(|error| error.to_string())
}

fn points(text: &str) -> Result<Vec<(f64, f64)>, String> {
    let mut points = Vec::new();
    let mut is_first = true;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let numbers: Option<Vec<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
        match (numbers.as_deref(), is_first) {
            (Some([epsilon, delta]), _) => points.push((*epsilon, *delta)),
            // A heading has no number in it.
            (None, true) if cells.len() == 2 && cells.iter().all(|cell| cell.parse::<f64>().is_err()) => {}
            _ => return Err(format!("line {}: expected ε and δ, such as 0.5,0.01, not {line:?}", number + 1)),
        }
        is_first = false;
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_comments_and_empty_lines_are_passed_over() {
        let text = "# from our own analysis\n\nepsilon,delta\n0, 0.5\n\n1,0.1\n # end\n2,0\n";
        assert_eq!(points(text).unwrap(), [(0.0, 0.5), (1.0, 0.1), (2.0, 0.0)]);
    }

    #[test]
    fn what_is_no_point_is_named() {
        for (text, line) in
            [("0,0.5\nepsilon,delta", 2), ("0;0.5", 1), ("0,0.5\n1", 2), ("0,0.5\n1,2,3", 2), ("0,x", 1)]
        {
            let refused = points(text).unwrap_err();
            assert!(refused.starts_with(&format!("line {line}: expected")), "{text:?}: {refused}");
        }
    }
}
