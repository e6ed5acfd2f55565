//! Recognizes `core::panic::Location`: a place in the source that a panic reports. A change of the line costs no time.

use crate::image::{Image, LoaderWrite, SectionUse};

/// Size of a `Location`: pointer to the path, its length, line and column.
pub(crate) const SIZE: u64 = 24;
/// The longest path, in bytes.
const LONGEST_PATH: u64 = 4096;
/// An upper bound for the columns of a source line.
const MOST_COLUMNS: u32 = 1 << 16;

/// Reports whether an address holds a `Location`: the path of a Rust file with its length, a line and a column.
pub(crate) fn is_location(image: &Image<'_>, address: u64) -> bool {
    let path = || {
        let Some(LoaderWrite::Address(path)) = image.written.get(&address) else {
            return None;
        };
        if image.section_use(address)? != SectionUse::Constants
            || image
                .written
                .range(address + 1..address + SIZE)
                .next()
                .is_some()
        {
            return None;
        }
        let words = image.bytes(address + 8, SIZE - 8)?;
        let number = |at: usize| {
            u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]])
        };
        let length = u64::from(number(0));
        let is_place = number(4) == 0 && number(8) > 0 && (1..MOST_COLUMNS).contains(&number(12));
        if !is_place || length > LONGEST_PATH {
            return None;
        }
        image.bytes(*path, length)
    };
    // Some compilers include a final zero in the length.
    path().is_some_and(|path| path.strip_suffix(b"\0").unwrap_or(&path).ends_with(b".rs"))
}
