//! Cutting a line into dashes.

use super::Style;

/// Lengths of line and gap in turn, in units of the picture; empty for a solid line.
///
/// `rank` counts the curves of the same style before this one.
pub(super) fn pattern(style: Style, rank: usize) -> &'static [f64] {
    match style {
        Style::Solid | Style::Points => &[],
        Style::Dashed => [&[11.0, 6.0][..], &[15.0, 4.5, 3.5, 4.5], &[6.0, 4.0], &[18.0, 7.0]][rank % 4],
        Style::Dotted => [&[2.8, 4.2][..], &[2.8, 8.0]][rank % 2],
    }
}

/// The dashes of a polyline; the line itself if the pattern is empty.
pub(super) fn dashes(line: &[(f64, f64)], pattern: &[f64], unit: f64) -> Vec<Vec<(f64, f64)>> {
    if pattern.is_empty() {
        return vec![line.to_vec()];
    }
    let mut out = Vec::new();
    let mut dash: Vec<(f64, f64)> = line.first().copied().into_iter().collect();
    let (mut phase, mut left) = (0, pattern[0] * unit);
    for pair in line.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length < left {
                left -= length;
                if phase % 2 == 0 {
                    dash.push(to);
                }
                break;
            }
            let part = left / length.max(f64::MIN_POSITIVE);
            from = (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
            if phase % 2 == 0 {
                dash.push(from);
                out.push(std::mem::take(&mut dash));
            } else {
                dash = vec![from];
            }
            phase = (phase + 1) % pattern.len();
            left = pattern[phase] * unit;
        }
    }
    if dash.len() > 1 {
        out.push(dash);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_run_around_corners() {
        let line = [(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)];
        let cut = dashes(&line, &[4.0, 1.0], 1.0);
        assert_eq!(cut, [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 2.0), (3.0, 4.0)]]);
        assert_eq!(dashes(&line, &[], 1.0), [line.to_vec()]);
    }
}
