//! Compares damaged executables: they are compared or rejected, and nothing panics. The source of the intact one is next to it.

use perfcheck_code::{FunctionReader, Reach, compare, insert_traps};

const WHOLE: &[u8] = include_bytes!("corpus/small.elf");

#[test]
fn a_damaged_executable_is_compared_or_refused() {
    let same = compare(WHOLE, WHOLE).expect("it is whole");
    assert_eq!(same.reach, Reach::Same);
    assert_eq!(same.functions, []);
    perfcheck_mutations::attack("executables", &[WHOLE.to_vec()], |bytes| {
        for (base, candidate) in [(bytes, WHOLE), (WHOLE, bytes), (bytes, bytes)] {
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
fn functions_of_a_damaged_executable_are_read_or_refused() {
    perfcheck_mutations::attack("executables", &[WHOLE.to_vec()], |bytes| {
        let Ok(reader) = FunctionReader::parse(bytes) else {
            return;
        };
        for name in reader.names() {
            let pairs = reader.pair_functions(&reader, name);
            assert!(pairs.iter().all(|pair| !pair.differs()), "{name}");
        }
    });
}
