//! Damages executables: `compare` and `FunctionReader` must read or reject them without a panic. `corpus/small.c` is the source of the intact
//! executables.

use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection};
use std::collections::BTreeSet;

use perfcheck_code::{FunctionReader, Reach, UnsupportedExecutable, compare, insert_traps};

const WHOLE: &[u8] = include_bytes!("corpus/small.elf");
const WHOLE_AARCH64: &[u8] = include_bytes!("corpus/small_aarch64.elf");

#[test]
fn a_damaged_executable_is_compared_or_refused() {
    damage("executables", WHOLE);
    damage("executables for 64-bit ARM", WHOLE_AARCH64);
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
    ] {
        let set = insert_traps(whole.to_vec(), &BTreeSet::from([0x400]));
        assert_eq!(set[0x400..0x400 + trap.len()], *trap);
        assert_eq!(set[0x400 + trap.len()..], whole[0x400 + trap.len()..]);
        assert_eq!(set[..0x400], whole[..0x400]);
    }
}

#[test]
fn functions_of_a_damaged_executable_are_read_or_refused() {
    let whole = [WHOLE.to_vec(), WHOLE_AARCH64.to_vec()];
    perfcheck_mutations::attack("functions", &whole, |bytes| {
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
            for at in (start..start + size).filter(is_read) {
                for bit in 0..8 {
                    let mut flipped = whole.to_vec();
                    flipped[at as usize] ^= 1 << bit;
                    let found = compare(whole, &flipped).map(|found| found.reach);
                    let place = at - start;
                    assert_ne!(found, Ok(Reach::Same), "bit {bit} of {name}+{place:#x}");
                }
            }
        }
    }
}
