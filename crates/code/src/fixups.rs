//! Reads what the loader of macOS writes into an executable. There are two formats: chains of pointers in the executable itself, and two older lists of
//! opcodes. Both are described in Apple's headers `mach-o/fixup-chains.h` and `mach-o/loader.h`.

use object::macho::{
    BIND_IMMEDIATE_MASK, BIND_OPCODE_ADD_ADDR_ULEB, BIND_OPCODE_DO_BIND,
    BIND_OPCODE_DO_BIND_ADD_ADDR_IMM_SCALED, BIND_OPCODE_DO_BIND_ADD_ADDR_ULEB,
    BIND_OPCODE_DO_BIND_ULEB_TIMES_SKIPPING_ULEB, BIND_OPCODE_DONE, BIND_OPCODE_MASK,
    BIND_OPCODE_SET_ADDEND_SLEB, BIND_OPCODE_SET_DYLIB_ORDINAL_IMM,
    BIND_OPCODE_SET_DYLIB_ORDINAL_ULEB, BIND_OPCODE_SET_DYLIB_SPECIAL_IMM,
    BIND_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB, BIND_OPCODE_SET_SYMBOL_TRAILING_FLAGS_IMM,
    BIND_OPCODE_SET_TYPE_IMM, BIND_TYPE_POINTER, REBASE_IMMEDIATE_MASK,
    REBASE_OPCODE_ADD_ADDR_IMM_SCALED, REBASE_OPCODE_ADD_ADDR_ULEB,
    REBASE_OPCODE_DO_REBASE_ADD_ADDR_ULEB, REBASE_OPCODE_DO_REBASE_IMM_TIMES,
    REBASE_OPCODE_DO_REBASE_ULEB_TIMES, REBASE_OPCODE_DO_REBASE_ULEB_TIMES_SKIPPING_ULEB,
    REBASE_OPCODE_DONE, REBASE_OPCODE_MASK, REBASE_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB,
    REBASE_OPCODE_SET_TYPE_IMM, REBASE_TYPE_POINTER,
};
use std::collections::BTreeMap;

use crate::image::{LoaderWrite, UnsupportedExecutable};

/// A segment of an executable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MachoSegment<'d> {
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// Content in the file.
    pub(crate) bytes: &'d [u8],
}

/// The values that the loader writes, by address.
pub(crate) type Fixups = BTreeMap<u64, LoaderWrite>;

fn damaged() -> UnsupportedExecutable {
    UnsupportedExecutable::Damaged(
        "its list of addresses for the loader is inconsistent".to_owned(),
    )
}

/// Names an import by the number of its library, because libraries may have functions of the same name.
fn import(library: i64, name: &str, addend: i64) -> Result<LoaderWrite, UnsupportedExecutable> {
    const FIRST_SPECIAL: i64 = -2;
    if library < FIRST_SPECIAL {
        // The definition in the executable counts only if no library has one.
        return Err(UnsupportedExecutable::Feature(
            "definitions that libraries may replace",
        ));
    }
    Ok(LoaderWrite::Import(format!("{library}!{name}"), addend, 0))
}

/// Returns the number that the file has for an address in memory.
fn pointer(segments: &[MachoSegment<'_>], address: u64) -> Option<u64> {
    let is_within =
        |one: &&MachoSegment<'_>| one.start <= address && address - one.start < one.size;
    let segment = segments.iter().find(is_within)?;
    let at = usize::try_from(address - segment.start).ok()?;
    let bytes = segment.bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], UnsupportedExecutable> {
    let bytes = at.checked_add(N).and_then(|end| bytes.get(at..end));
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(damaged)
}

fn number_16(bytes: &[u8], at: usize) -> Result<u16, UnsupportedExecutable> {
    number(bytes, at).map(u16::from_le_bytes)
}

fn number_32(bytes: &[u8], at: usize) -> Result<usize, UnsupportedExecutable> {
    number(bytes, at).map(|bytes| u32::from_le_bytes(bytes) as usize)
}

/// Returns the text at an offset, which ends with a zero.
fn text(bytes: &[u8], at: usize) -> Result<&str, UnsupportedExecutable> {
    let rest = bytes.get(at..).ok_or_else(damaged)?;
    let end = rest.iter().position(|byte| *byte == 0);
    let text = &rest[..end.ok_or_else(damaged)?];
    std::str::from_utf8(text).map_err(|_| damaged())
}

/// The formats of pointers with 64 bits: in the first, targets are addresses; in the second, they are offsets from the start of the executable.
const POINTERS_TO_ADDRESSES: u16 = 2;
const POINTERS_TO_OFFSETS: u16 = 6;
/// A page that has no pointers, and the mark of a page that has several chains.
const NO_POINTERS: u16 = 0xffff;
const SEVERAL_CHAINS: u16 = 0x8000;
/// The bits of a pointer that hold the target, and those that hold the distance to the next one, in steps of 4 bytes.
const TARGET: u64 = (1 << 36) - 1;
const DISTANCE: u64 = (1 << 12) - 1;
/// The bits that must be zero in a pointer. In a pointer into the executable, some of them can hold a tag, which is not supported.
const UNUSED: u64 = ((1 << 51) - 1) & !TARGET;
const UNUSED_OF_IMPORT: u64 = ((1 << 51) - 1) & !0xffff_ffff;

/// Reads the chains that `table` describes (`LC_DYLD_CHAINED_FIXUPS`). `segments` are in the order of the file, and `base` is the start of the
/// executable.
pub(crate) fn read_chains(
    table: &[u8],
    segments: &[MachoSegment<'_>],
    base: u64,
) -> Result<Fixups, UnsupportedExecutable> {
    let imports = read_imports(table)?;
    let starts = number_32(table, 4)?;
    let of_image = table.get(starts..).ok_or_else(damaged)?;
    let mut found = Fixups::new();
    for segment in 0..number_32(of_image, 0)? {
        let offset = number_32(
            of_image,
            4_usize.saturating_add(4_usize.saturating_mul(segment)),
        )?;
        if offset == 0 {
            continue;
        }
        let start = segments.get(segment).ok_or_else(damaged)?.start;
        let of_segment = of_image.get(offset..).ok_or_else(damaged)?;
        let page_size = number_16(of_segment, 4)?;
        let format = number_16(of_segment, 6)?;
        let in_image = u64::from_le_bytes(number(of_segment, 8)?);
        if format != POINTERS_TO_ADDRESSES && format != POINTERS_TO_OFFSETS {
            return Err(UnsupportedExecutable::Feature("kind of pointers"));
        }
        if base.checked_add(in_image) != Some(start) {
            return Err(damaged());
        }
        for page in 0..usize::from(number_16(of_segment, 20)?) {
            let first = number_16(of_segment, 22 + 2 * page)?;
            if first == NO_POINTERS {
                continue;
            }
            if first & SEVERAL_CHAINS != 0 {
                return Err(UnsupportedExecutable::Feature("pages with several chains"));
            }
            let offset = page as u64 * u64::from(page_size) + u64::from(first);
            let mut at = start.checked_add(offset).ok_or_else(damaged)?;
            loop {
                let value = pointer(segments, at).ok_or_else(damaged)?;
                let is_import = value >> 63 == 1;
                let unused = if is_import { UNUSED_OF_IMPORT } else { UNUSED };
                if value & unused != 0 {
                    return Err(UnsupportedExecutable::Feature("tagged pointers"));
                }
                let written = if is_import {
                    let import: Option<&LoaderWrite> = imports.get((value & 0xff_ffff) as usize);
                    with_addend(
                        import.ok_or_else(damaged)?,
                        (value >> 24 & 0xff).cast_signed(),
                    )
                } else if format == POINTERS_TO_OFFSETS {
                    LoaderWrite::Address(base.wrapping_add(value & TARGET))
                } else {
                    LoaderWrite::Address(value & TARGET)
                };
                found.insert(at, written);
                let distance = value >> 51 & DISTANCE;
                if distance == 0 {
                    break;
                }
                at = at.checked_add(4 * distance).ok_or_else(damaged)?;
            }
        }
    }
    Ok(found)
}

fn with_addend(import: &LoaderWrite, more: i64) -> LoaderWrite {
    match import {
        LoaderWrite::Import(name, addend, kind) => {
            LoaderWrite::Import(name.clone(), addend.wrapping_add(more), *kind)
        }
        LoaderWrite::Address(address) => LoaderWrite::Address(*address),
    }
}

/// Reads the list of imports of a table of chains.
fn read_imports(table: &[u8]) -> Result<Vec<LoaderWrite>, UnsupportedExecutable> {
    let (version, at, names) = (
        number_32(table, 0)?,
        number_32(table, 8)?,
        number_32(table, 12)?,
    );
    let (count, format) = (number_32(table, 16)?, number_32(table, 20)?);
    if version != 0 || number_32(table, 24)? != 0 {
        return Err(UnsupportedExecutable::Feature("kind of imports"));
    }
    let names = table.get(names..).ok_or_else(damaged)?;
    let list = table.get(at..).ok_or_else(damaged)?;
    let mut found = Vec::new();
    for index in 0..count {
        let (library, name, addend) = match format {
            1 => (list_entry(list, index, 4)?, None, 0),
            2 => {
                let addend = number(list, index.saturating_mul(8).saturating_add(4))?;
                let addend = i64::from(i32::from_le_bytes(addend));
                (list_entry(list, index, 8)?, None, addend)
            }
            3 => {
                let start = index.saturating_mul(16);
                let entry = u64::from_le_bytes(number(list, start)?);
                let addend = i64::from_le_bytes(number(list, start.saturating_add(8))?);
                (entry & 0xffff, Some((entry >> 32) as usize), addend)
            }
            _ => return Err(UnsupportedExecutable::Feature("kind of imports")),
        };
        // In the short formats, an entry has 8 bits for the library, one that does not matter, and 23 for the name.
        let (library, name) = match name {
            Some(name) => (i64::from((library as u16).cast_signed()), name),
            None => (short_library(library), (library >> 9) as usize),
        };
        found.push(import(library, text(names, name)?, addend)?);
    }
    Ok(found)
}

fn list_entry(list: &[u8], index: usize, size: usize) -> Result<u64, UnsupportedExecutable> {
    let entry = number(list, index.saturating_mul(size))?;
    Ok(u64::from(u32::from_le_bytes(entry)))
}

/// Returns the number of a library that is stored in 8 bits. The highest values are negative numbers with special meanings.
fn short_library(entry: u64) -> i64 {
    let library = (entry & 0xff).cast_signed();
    if library > 0xf0 {
        library - 0x100
    } else {
        library
    }
}

/// A list of opcodes, and the place that the next one changes.
struct Opcodes<'s, 'd> {
    rest: &'s [u8],
    segments: &'s [MachoSegment<'d>],
    at: u64,
    /// The number of writes that may still follow: at the start, as many as there are pointers in the content of the segments.
    left: usize,
}

impl<'s, 'd> Opcodes<'s, 'd> {
    fn new(opcodes: &'s [u8], segments: &'s [MachoSegment<'d>]) -> Self {
        let bytes: usize = segments.iter().map(|segment| segment.bytes.len()).sum();
        Self {
            rest: opcodes,
            segments,
            at: 0,
            left: bytes / 8,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Reads a number of variable length (LEB128). Returns its value and the number of its bits.
    fn read_number(&mut self) -> Result<(u64, u32), UnsupportedExecutable> {
        let (mut value, mut bits) = (0, 0);
        loop {
            let byte = self.byte().ok_or_else(damaged)?;
            if bits >= 64 {
                return Err(damaged());
            }
            value |= u64::from(byte & 0x7f) << bits;
            bits += 7;
            if byte & 0x80 == 0 {
                return Ok((value, bits));
            }
        }
    }

    fn unsigned(&mut self) -> Result<u64, UnsupportedExecutable> {
        Ok(self.read_number()?.0)
    }

    fn signed(&mut self) -> Result<i64, UnsupportedExecutable> {
        let (value, bits) = self.read_number()?;
        let unused = 64_u32.saturating_sub(bits);
        Ok((value << unused).cast_signed() >> unused)
    }

    /// Moves to a place in `segment`. The list has its offset from the start of the segment next.
    fn move_to(&mut self, segment: u8) -> Result<(), UnsupportedExecutable> {
        let offset = self.unsigned()?;
        let segment = self.segments.get(usize::from(segment));
        self.at = segment.ok_or_else(damaged)?.start.wrapping_add(offset);
        Ok(())
    }

    /// Calls `write` for `count` pointers with a gap of `skip` bytes after each.
    fn repeat(
        &mut self,
        count: u64,
        skip: u64,
        mut write: impl FnMut(u64, u64),
    ) -> Result<(), UnsupportedExecutable> {
        for _ in 0..count {
            self.left = self.left.checked_sub(1).ok_or_else(damaged)?;
            let value = pointer(self.segments, self.at).ok_or_else(damaged)?;
            write(self.at, value);
            self.at = self.at.wrapping_add(8).wrapping_add(skip);
        }
        Ok(())
    }
}

/// Reads the list of addresses of the executable itself.
pub(crate) fn read_rebases(
    opcodes: &[u8],
    segments: &[MachoSegment<'_>],
    found: &mut Fixups,
) -> Result<(), UnsupportedExecutable> {
    let mut list = Opcodes::new(opcodes, segments);
    let mut write = |at, value| {
        found.insert(at, LoaderWrite::Address(value));
    };
    while let Some(byte) = list.byte() {
        let immediate = byte & REBASE_IMMEDIATE_MASK;
        match byte & REBASE_OPCODE_MASK {
            REBASE_OPCODE_DONE => break,
            REBASE_OPCODE_SET_TYPE_IMM if immediate == REBASE_TYPE_POINTER => {}
            REBASE_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB => list.move_to(immediate)?,
            REBASE_OPCODE_ADD_ADDR_ULEB => list.at = list.at.wrapping_add(list.unsigned()?),
            REBASE_OPCODE_ADD_ADDR_IMM_SCALED => {
                list.at = list.at.wrapping_add(8 * u64::from(immediate));
            }
            REBASE_OPCODE_DO_REBASE_IMM_TIMES => list.repeat(immediate.into(), 0, &mut write)?,
            REBASE_OPCODE_DO_REBASE_ULEB_TIMES => {
                let count = list.unsigned()?;
                list.repeat(count, 0, &mut write)?;
            }
            REBASE_OPCODE_DO_REBASE_ADD_ADDR_ULEB => {
                let skip = list.unsigned()?;
                list.repeat(1, skip, &mut write)?;
            }
            REBASE_OPCODE_DO_REBASE_ULEB_TIMES_SKIPPING_ULEB => {
                let (count, skip) = (list.unsigned()?, list.unsigned()?);
                list.repeat(count, skip, &mut write)?;
            }
            _ => return Err(UnsupportedExecutable::Feature("relocations")),
        }
    }
    Ok(())
}

/// Reads a list of imports. `are_late` means the list of those that are needed late (`LC_DYLD_INFO` calls them lazy). In that list, a zero ends an
/// import, not the list.
pub(crate) fn read_binds(
    opcodes: &[u8],
    segments: &[MachoSegment<'_>],
    are_late: bool,
    found: &mut Fixups,
) -> Result<(), UnsupportedExecutable> {
    let mut list = Opcodes::new(opcodes, segments);
    let (mut library, mut name, mut addend) = (0_i64, String::new(), 0);
    while let Some(byte) = list.byte() {
        let immediate = byte & BIND_IMMEDIATE_MASK;
        let (count, skip) = match byte & BIND_OPCODE_MASK {
            BIND_OPCODE_DONE if are_late => (0, 0),
            BIND_OPCODE_DONE => break,
            BIND_OPCODE_SET_DYLIB_ORDINAL_IMM => {
                library = immediate.into();
                (0, 0)
            }
            BIND_OPCODE_SET_DYLIB_ORDINAL_ULEB => {
                library = list.unsigned()?.cast_signed();
                (0, 0)
            }
            BIND_OPCODE_SET_DYLIB_SPECIAL_IMM => {
                let negative = BIND_OPCODE_MASK | immediate;
                library = if immediate == 0 {
                    0
                } else {
                    negative.cast_signed().into()
                };
                (0, 0)
            }
            BIND_OPCODE_SET_SYMBOL_TRAILING_FLAGS_IMM => {
                text(list.rest, 0)?.clone_into(&mut name);
                list.rest = &list.rest[name.len() + 1..];
                (0, 0)
            }
            BIND_OPCODE_SET_TYPE_IMM if immediate == BIND_TYPE_POINTER => (0, 0),
            BIND_OPCODE_SET_ADDEND_SLEB => {
                addend = list.signed()?;
                (0, 0)
            }
            BIND_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB => {
                list.move_to(immediate)?;
                (0, 0)
            }
            BIND_OPCODE_ADD_ADDR_ULEB => {
                list.at = list.at.wrapping_add(list.unsigned()?);
                (0, 0)
            }
            BIND_OPCODE_DO_BIND => (1, 0),
            BIND_OPCODE_DO_BIND_ADD_ADDR_ULEB => (1, list.unsigned()?),
            BIND_OPCODE_DO_BIND_ADD_ADDR_IMM_SCALED => (1, 8 * u64::from(immediate)),
            BIND_OPCODE_DO_BIND_ULEB_TIMES_SKIPPING_ULEB => (list.unsigned()?, list.unsigned()?),
            _ => return Err(UnsupportedExecutable::Feature("imports")),
        };
        if count > 0 {
            let written = import(library, &name, addend)?;
            list.repeat(count, skip, |at, _| {
                found.insert(at, written.clone());
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a list of opcodes about a segment at 0x1000 that has the numbers 0, 1, 2 and so on.
    fn read(
        opcodes: &[u8],
        list: impl FnOnce(&[u8], &[MachoSegment<'_>], &mut Fixups) -> Result<(), UnsupportedExecutable>,
    ) -> Result<Fixups, UnsupportedExecutable> {
        let numbers: Vec<u8> = (0..16_u64).flat_map(u64::to_le_bytes).collect();
        let segment = MachoSegment {
            start: 0x1000,
            size: 128,
            bytes: &numbers,
        };
        let mut found = Fixups::new();
        list(opcodes, &[segment], &mut found)?;
        Ok(found)
    }

    #[test]
    fn addresses_of_the_executable_are_where_the_opcodes_say() {
        // Set the type and the offset 8; two pointers; one and a gap of 8; skip 8 bytes; twice one pointer with a gap of 16; end.
        let opcodes = [0x11, 0x20, 8, 0x52, 0x70, 8, 0x41, 0x80, 2, 16, 0x00, 0x51];
        let found = read(&opcodes, read_rebases).expect("it is whole");
        let places: Vec<u64> = found.keys().map(|at| (at - 0x1000) / 8).collect();
        assert_eq!(places, [1, 2, 3, 6, 9]);
        let is_number = |(at, written): (&u64, &LoaderWrite)| {
            *written == LoaderWrite::Address((at - 0x1000) / 8)
        };
        assert!(found.iter().all(is_number));
        for damaged in [
            &[0x11, 0x20, 0x80, 1, 0x51][..],
            &[0x21, 0, 0x51],
            &[0x20, 0x80],
        ] {
            assert!(read(damaged, read_rebases).is_err(), "{damaged:x?}");
        }
    }

    #[test]
    fn imports_have_the_name_the_library_and_the_addend() {
        let import = |library: i64, name: &str, addend| {
            LoaderWrite::Import(format!("{library}!{name}"), addend, 0)
        };
        // Library 2, `_f`, type, offset 0, bind and skip 8; addend -2, library -2, bind twice with a gap of 8.
        let opcodes = [
            0x12, 0x40, b'_', b'f', 0, 0x51, 0x70, 0, 0xb1, 0x60, 0x7e, 0x3e, 0xc0, 2, 8, 0x00,
        ];
        let binds = |are_late| {
            move |opcodes: &[u8], segments: &[MachoSegment<'_>], found: &mut Fixups| {
                read_binds(opcodes, segments, are_late, found)
            }
        };
        let found = read(&opcodes, binds(false)).expect("it is whole");
        let expected = [
            (0x1000, import(2, "_f", 0)),
            (0x1010, import(-2, "_f", -2)),
            (0x1020, import(-2, "_f", -2)),
        ];
        assert_eq!(found, Fixups::from(expected));
        // In a list of late imports, a zero does not end the list.
        let late = [
            0x70, 0, 0x11, 0x40, b'g', 0, 0x90, 0x00, 0x70, 8, 0x90, 0x00,
        ];
        assert_eq!(read(&late, binds(true)).map(|found| found.len()), Ok(2));
        assert_eq!(read(&late, binds(false)).map(|found| found.len()), Ok(1));
        let weak = [0x3d, 0x40, b'g', 0, 0x70, 0, 0x90];
        assert!(matches!(
            read(&weak, binds(false)),
            Err(UnsupportedExecutable::Feature(_))
        ));
    }
}
