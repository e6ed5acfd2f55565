//! Reads whole files into memory, with a size limit and a hash.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::ExchangeError;
use perfcheck_analysis::model::SourceFile;

/// Maximum size of a file in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputContent {
    /// Name of the file without directories; `-` for standard input.
    pub name: String,
    /// Content of the file; UTF-16 is converted to UTF-8.
    pub bytes: Vec<u8>,
    /// BLAKE3 hash of `bytes`, in hexadecimal digits.
    pub blake3: String,
}

impl InputContent {
    /// Returns the facts about the file that are stored with its run.
    pub fn source(&self) -> SourceFile {
        SourceFile {
            name: self.name.clone(),
            blake3: self.blake3.clone(),
            bytes: self.bytes.len() as u64,
        }
    }

    /// Returns the content as text, without a byte order mark.
    pub(super) fn text(&self) -> Result<&str, ExchangeError> {
        let text = str::from_utf8(&self.bytes).map_err(|error| {
            let line = self.bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n');
            ExchangeError::Broken {
                place: format!("{}:{}", self.name, line.count() + 1),
                reason: "the text is not UTF-8".to_owned(),
            }
        })?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }
}

/// Reads a file, or `standard_input` if the path is `-`.
pub fn read(path: &Path, standard_input: &mut dyn Read) -> Result<InputContent, ExchangeError> {
    let failed = |source: io::Error| ExchangeError::File {
        path: path.to_owned(),
        source,
    };
    let is_standard_input = path.as_os_str() == "-";
    let name = if is_standard_input {
        "-".to_owned()
    } else {
        let last = path.file_name().unwrap_or(path.as_os_str());
        last.to_string_lossy().into_owned()
    };
    let bytes = if is_standard_input {
        read_bounded(standard_input, MOST_BYTES)
    } else {
        File::open(path).and_then(|file| read_bounded(file, MOST_BYTES))
    };
    match bytes.map_err(failed)? {
        Some(bytes) => {
            let bytes = to_utf8(&name, bytes)?;
            Ok(InputContent {
                name,
                blake3: blake3::hash(&bytes).to_hex().to_string(),
                bytes,
            })
        }
        None => Err(ExchangeError::TooLong {
            name,
            limit_mib: MOST_BYTES >> 20,
        }),
    }
}

/// Converts UTF-16 with a byte order mark, as PowerShell's `>` writes it, to UTF-8; other bytes stay as they are.
fn to_utf8(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, ExchangeError> {
    let read_unit = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => return Ok(bytes),
    };
    let (units, odd) = bytes[2..].as_chunks();
    let units = units.iter().copied().map(read_unit);
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if odd.is_empty() => Ok(text.into_bytes()),
        Ok(_) | Err(_) => Err(ExchangeError::Broken {
            place: name.to_owned(),
            reason: "the byte order mark says UTF-16, but the text is not UTF-16; save it as UTF-8"
                .to_owned(),
        }),
    }
}

/// Reads everything, or returns `None` if there is more than `most`.
fn read_bounded(reader: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_input_is_read_by_its_dash_and_hashed() {
        let found = read(Path::new("-"), &mut &b"abc"[..]).unwrap();
        assert_eq!((found.name.as_str(), &found.bytes[..]), ("-", &b"abc"[..]));
        // BLAKE3 of "abc", from its test vectors' reference program.
        assert!(found.blake3.starts_with("6437b3ac38465133ffb63b75273a8db5"));
    }

    #[test]
    fn text_of_utf_16_is_read_by_its_mark() {
        let encode = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}µ 𝄞".encode_utf16().flat_map(to_bytes).collect()
        };
        for bytes in [encode(u16::to_le_bytes), encode(u16::to_be_bytes)] {
            let found = read(Path::new("-"), &mut &bytes[..]).unwrap();
            assert_eq!(found.text().unwrap(), "µ 𝄞");
            let cut = read(Path::new("-"), &mut &bytes[..bytes.len() - 2]).unwrap_err();
            assert!(cut.to_string().contains("UTF-16"), "{cut}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        assert_eq!(read_bounded(&b"abc"[..], 3).unwrap(), Some(b"abc".to_vec()));
        assert_eq!(read_bounded(io::repeat(b'x'), 3).unwrap(), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let refused = read(Path::new("no/such.csv"), &mut io::empty()).unwrap_err();
        assert!(refused.to_string().contains("no/such.csv"), "{refused}");
    }
}
