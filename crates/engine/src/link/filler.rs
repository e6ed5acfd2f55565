//! The object file with the filler between functions.

use object::write::{Object, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope, elf,
};

use super::places::{CodePiece, FillerSpec};

/// Value of a filler byte, which no process executes (on x86, a breakpoint).
const BYTE: u8 = 0xcc;

/// Returns the symbol of the nth filler.
fn symbol_name(nth: usize) -> String {
    format!("perfcheck_filler_{nth}")
}

/// Returns an object file with a section for each filler, and the order of all symbols, one on each line.
///
/// The sections are marked as retained, because nothing refers to them.
pub(super) fn write_object(
    pieces: &[CodePiece],
    architecture: Architecture,
    endianness: Endianness,
) -> Result<(Vec<u8>, String), String> {
    let mut object = Object::new(BinaryFormat::Elf, architecture, endianness);
    let mut order = String::new();
    let mut count = 0;
    for piece in pieces {
        match piece {
            CodePiece::Function(name) => order.push_str(name),
            CodePiece::Filler(filler) => {
                let name = symbol_name(count);
                count += 1;
                add(&mut object, &name, *filler);
                order.push_str(&name);
            }
        }
        order.push('\n');
    }
    let bytes = object.write().map_err(|error| error.to_string())?;
    Ok((bytes, order))
}

fn add(object: &mut Object<'_>, name: &str, filler: FillerSpec) {
    let section = object.add_section(
        Vec::new(),
        format!(".text.{name}").into_bytes(),
        SectionKind::Text,
    );
    let flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR | elf::SHF_GNU_RETAIN;
    object.section_mut(section).flags = SectionFlags::Elf {
        sh_flags: u64::from(flags),
    };
    let bytes = vec![BYTE; filler.size as usize];
    object.append_section_data(section, &bytes, filler.alignment);
    object.add_symbol(Symbol {
        name: name.as_bytes().to_vec(),
        value: 0,
        size: filler.size,
        kind: SymbolKind::Data,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    });
}
