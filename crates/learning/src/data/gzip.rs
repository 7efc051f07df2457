//! Reading files that may be compressed.

use std::io::Read;

/// Undoes gzip, unless more than `most` bytes come out: a small file can hold any number of zeros.
pub(super) fn decompress(bytes: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let read = flate2::read::GzDecoder::new(bytes).take(most.saturating_add(1)).read_to_end(&mut plain);
    read.map_err(|error| format!("cannot be decompressed: {error}"))?;
    if plain.len() as u64 > most {
        return Err(format!("holds more than {most} bytes"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn no_more_than_allowed_comes_out() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&[7; 1000]).unwrap();
        let bytes = encoder.finish().unwrap();
        assert_eq!(decompress(&bytes, 1000).unwrap(), [7; 1000]);
        assert_eq!(decompress(&bytes, 999).unwrap_err(), "holds more than 999 bytes");
        assert!(decompress(&bytes[..20], 1000).unwrap_err().contains("cannot be decompressed"));
    }
}
