//! Reads executables, whatever their format.

use object::FileKind;

use crate::image::{Image, UnsupportedExecutable};
use crate::{elf, macho, pe};

/// Parses an executable for comparison. Fails if it uses a feature that is not supported.
pub(crate) fn parse(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    match FileKind::parse(bytes) {
        Ok(FileKind::Pe64) => pe::parse(bytes),
        Ok(FileKind::MachO64) => macho::parse(bytes),
        _ => elf::parse(bytes),
    }
}

/// Parses an executable only to show its code; the values that the loader writes may be unknown.
pub(crate) fn parse_for_listing(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    match FileKind::parse(bytes) {
        Ok(FileKind::Pe64) => pe::parse_for_listing(bytes),
        Ok(FileKind::MachO64) => macho::parse_for_listing(bytes),
        _ => elf::parse_for_listing(bytes),
    }
}
