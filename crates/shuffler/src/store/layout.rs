//! How reports fit into pages.

/// What a row needs in a leaf page besides the piece: SQLite keeps a cell in its page up to `usable size − 35` (file format, section 1.6), less the cell's
/// and the record's header, which take at most 24 bytes, and the digest.
const OVERHEAD: usize = 35 + 24 + 32;
/// The key of a further piece, in the first one's row.
const KEY: usize = 8;
/// No report has more pieces: 2^24 bytes and a little.
const MOST_PIECES: usize = 272;
const SMALLEST_PAGE: usize = 4096;
const LARGEST_PAGE: usize = 65_536;

/// Pages and pieces for reports of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes of a page, a power of two.
    pub(crate) page: usize,
    /// Pieces of a report.
    pub(crate) pieces: usize,
    /// Bytes of each piece but the last.
    pub(crate) piece: usize,
}

impl Layout {
    pub(crate) fn of(record_len: usize) -> Self {
        let room = LARGEST_PAGE - OVERHEAD;
        let pieces = if record_len <= room { 1 } else { record_len.div_ceil(room - KEY * MOST_PIECES) };
        let piece = record_len.div_ceil(pieces).max(1);
        let page = (piece + OVERHEAD + KEY * (pieces - 1)).next_power_of_two().clamp(SMALLEST_PAGE, LARGEST_PAGE);
        Self { page, pieces, piece }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_fits() {
        for len in (1..300_000).chain([1 << 24, (1 << 24) + 67]) {
            let layout = Layout::of(len);
            assert!(layout.piece + OVERHEAD + KEY * (layout.pieces - 1) <= layout.page, "{len}");
            assert!(layout.pieces <= MOST_PIECES, "{len}");
            assert!(layout.page.is_power_of_two() && (SMALLEST_PAGE..=LARGEST_PAGE).contains(&layout.page));
            // All pieces but the last are full, and the last is not empty.
            assert_eq!(len.div_ceil(layout.piece), layout.pieces, "{len}");
        }
        assert_eq!(Layout::of(1067), Layout { page: 4096, pieces: 1, piece: 1067 });
        assert_eq!(Layout::of(65_445).pieces, 1);
        assert_eq!(Layout::of(65_446).pieces, 2);
    }
}
