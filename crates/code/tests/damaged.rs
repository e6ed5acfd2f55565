//! Damages executables: `compare`, `FunctionReader`, `measure_sizes` and `find_grown_functions` must read or reject them without a panic.
//! `corpus/small.c` is the source of the intact executables.

use object::read::elf::ElfFile64;
use object::read::pe::PeFile64;
use object::{LittleEndian, Object, ObjectSection};
use std::collections::BTreeSet;

use perfcheck_code::{
    FunctionReader, Reach, UnsupportedExecutable, compare, find_grown_functions, insert_traps,
    measure_sizes,
};

const WHOLE: &[u8] = include_bytes!("corpus/small.elf");
const WHOLE_AARCH64: &[u8] = include_bytes!("corpus/small_aarch64.elf");
const WHOLE_PE: &[u8] = include_bytes!("corpus/small.exe");
const WHOLE_MACHO: &[u8] = include_bytes!("corpus/small.macho");
const WHOLE_MACHO_AARCH64: &[u8] = include_bytes!("corpus/small_aarch64.macho");

#[test]
fn a_damaged_executable_is_compared_or_refused() {
    damage("executables", WHOLE);
    damage("executables for 64-bit ARM", WHOLE_AARCH64);
    damage("executables for Windows", WHOLE_PE);
    damage("executables for macOS", WHOLE_MACHO);
    damage("executables for macOS on 64-bit ARM", WHOLE_MACHO_AARCH64);
}

fn damage(name: &str, whole: &[u8]) {
    let same = compare(whole, whole).expect("it is whole");
    assert_eq!(same.reach, Reach::Same);
    assert_eq!(same.functions, []);
    perfcheck_mutations::attack(name, &[whole.to_vec()], |bytes| {
        for (base, candidate) in [(bytes, whole), (whole, bytes), (bytes, bytes)] {
            let Ok(found) = compare(base, candidate) else {
                continue;
            };
            if let Reach::Differs(entrances) = found.reach {
                let set = insert_traps(candidate.to_vec(), &entrances.candidate);
                assert_eq!(set.len(), candidate.len());
            }
        }
    });
}

#[test]
fn executables_for_different_processors_are_not_compared() {
    let refused = Err(UnsupportedExecutable::OtherProcessor);
    assert_eq!(compare(WHOLE, WHOLE_AARCH64), refused);
    assert_eq!(compare(WHOLE_AARCH64, WHOLE), refused);
}

#[test]
fn a_trap_is_an_instruction_of_the_processor() {
    for (whole, trap) in [
        (WHOLE, &[0xcc][..]),
        (WHOLE_AARCH64, &[0x00, 0x00, 0x20, 0xd4][..]),
        (WHOLE_PE, &[0xcc][..]),
        (WHOLE_MACHO, &[0xcc][..]),
        (WHOLE_MACHO_AARCH64, &[0x00, 0x00, 0x20, 0xd4][..]),
    ] {
        let set = insert_traps(whole.to_vec(), &BTreeSet::from([0x400]));
        assert_eq!(set[0x400..0x400 + trap.len()], *trap);
        assert_eq!(set[0x400 + trap.len()..], whole[0x400 + trap.len()..]);
        assert_eq!(set[..0x400], whole[..0x400]);
    }
}

#[test]
fn functions_of_a_damaged_executable_are_read_or_refused() {
    let whole = [
        WHOLE,
        WHOLE_AARCH64,
        WHOLE_PE,
        WHOLE_MACHO,
        WHOLE_MACHO_AARCH64,
    ];
    let whole = whole.map(<[u8]>::to_vec);
    perfcheck_mutations::attack("functions", &whole, |bytes| {
        let _ = measure_sizes(bytes);
        let _ = find_grown_functions(bytes, bytes, 3).map(|grown| assert_eq!(grown, []));
        let Ok(reader) = FunctionReader::parse(bytes) else {
            return;
        };
        for name in reader.names() {
            let pairs = reader.pair_functions(&reader, name);
            assert!(pairs.iter().all(|pair| !pair.differs()), "{name}");
        }
    });
}

#[test]
fn a_section_of_zeros_may_be_larger_than_memory_but_not_than_all_addresses() {
    let huge = compare(&with_zeros(1 << 46), &with_zeros(1 << 46));
    assert_eq!(huge.map(|found| found.reach), Ok(Reach::Same));
    let error = compare(&with_zeros(u64::MAX), WHOLE).unwrap_err();
    assert!(
        error.to_string().ends_with("which no process can address"),
        "{error}"
    );
}

/// Returns the executable `WHOLE`, whose section of zero-initialized variables now claims to have `size` bytes.
fn with_zeros(size: u64) -> Vec<u8> {
    const NO_BITS: u32 = 8;
    const HEADER: usize = 64;
    let mut bytes = WHOLE.to_vec();
    let number = |at: usize| {
        u64::from_le_bytes(
            WHOLE[at..at + 8]
                .try_into()
                .expect("the slice has this length"),
        )
    };
    let first = number(0x28) as usize;
    let mut headers = (first..).step_by(HEADER);
    let kind = |at: usize| {
        u32::from_le_bytes(
            WHOLE[at + 4..at + 8]
                .try_into()
                .expect("the slice has this length"),
        )
    };
    let zeros = headers
        .find(|at| kind(*at) == NO_BITS)
        .expect("it has such variables");
    bytes[zeros + 32..zeros + 40].copy_from_slice(&size.to_le_bytes());
    bytes
}

/// Checks that no flipped bit at these offsets of the file leaves the executable the same.
fn every_flipped_bit_is_found(whole: &[u8], name: &str, offsets: impl Iterator<Item = u64>) {
    for at in offsets {
        for bit in 0..8 {
            let mut flipped = whole.to_vec();
            flipped[at as usize] ^= 1 << bit;
            let found = compare(whole, &flipped).map(|found| found.reach);
            assert_ne!(found, Ok(Reach::Same), "bit {bit} of {at:#x} in {name}");
        }
    }
}

#[test]
fn a_flipped_bit_of_what_a_program_for_windows_runs_or_reads_is_a_difference() {
    let file = PeFile64::parse(WHOLE_PE).expect("whole");
    // The rest of these sections is padding, or nothing refers to it.
    let read = [
        (".text", 0..0xcf),
        (".text", 0xd0..0xd6),
        (".data", 0..4),
        (".rdata", 0..0xa0),
    ];
    for (name, range) in read {
        let section = file.section_by_name(name).expect("it is there");
        let (start, _) = section.file_range().expect("it is in the file");
        every_flipped_bit_is_found(WHOLE_PE, name, start + range.start..start + range.end);
    }
}

#[test]
fn a_flipped_bit_of_what_a_program_for_macos_runs_or_reads_is_a_difference() {
    for whole in [WHOLE_MACHO, WHOLE_MACHO_AARCH64] {
        let file = object::File::parse(whole).expect("whole");
        for name in ["__text", "__stubs", "__const", "__cstring", "__thread_data"] {
            for section in file.sections().filter(|one| one.name() == Ok(name)) {
                let (start, size) = section.file_range().expect("it is in the file");
                every_flipped_bit_is_found(whole, name, start..start + size);
            }
        }
        let reader = FunctionReader::parse(whole).expect("whole");
        let names: Vec<&str> = reader.names().collect();
        assert_eq!(names, ["_start", "first", "second"]);
    }
}

#[test]
fn the_functions_of_an_executable_for_windows_end_before_the_padding() {
    let reader = FunctionReader::parse(WHOLE_PE).expect("whole");
    let length = |name: &str| {
        let pairs = reader.pair_functions(&reader, name);
        pairs[0].base.expect("it is there")
    };
    let names: Vec<&str> = reader.names().collect();
    assert_eq!(names, ["_start", "first", "puts", "second"]);
    let lengths = ["first", "second", "_start", "puts"].map(length);
    assert_eq!(lengths, [0x14, 0x78, 0x43, 6]);
    let pairs = reader.pair_functions(&reader, "second");
    let text: Vec<&str> = pairs[0]
        .rows
        .iter()
        .filter_map(|row| row.base.as_deref())
        .collect();
    for wanted in ["call first", "jmp puts"] {
        assert!(text.contains(&wanted), "{wanted}: {text:?}");
    }
}

#[test]
fn a_flipped_bit_of_what_a_program_runs_or_reads_is_a_difference() {
    for whole in [WHOLE, WHOLE_AARCH64] {
        let file = ElfFile64::<LittleEndian>::parse(whole).expect("whole");
        for name in [".text", ".rodata", ".tdata", ".rela.dyn"] {
            let section = file.section_by_name(name).expect("it is there");
            let (start, size) = section.file_range().expect("it is in the file");
            // The loader ignores the symbol of a relocation by the place of the executable.
            let is_read =
                |at: &u64| name != ".rela.dyn" || !(12..16).contains(&((at - start) % 24));
            every_flipped_bit_is_found(whole, name, (start..start + size).filter(is_read));
        }
    }
}
