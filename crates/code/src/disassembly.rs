//! The functions of an executable as readable instructions, with names in place of addresses.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use iced_x86::{
    Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind,
    SymbolResolver, SymbolResult,
};

use crate::body::{AccessSize, access_size, is_near_branch};
use crate::image::{CodeUnit, Image, LoaderWrite, SectionUse};
use crate::names::readable_name;

/// A placeholder in the text of a line for the label of the line that it leads to.
pub(crate) const LABEL: char = '\u{1}';
/// The largest unnamed constant whose value is shown, in bytes.
const LONGEST_CONSTANT: u64 = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionCode {
    /// The linker's name.
    pub(crate) symbol: String,
    /// The length of the code in bytes.
    pub(crate) size: u64,
    pub(crate) lines: Vec<CodeLine>,
}

/// An instruction in Intel syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeLine {
    /// The instruction, with [`LABEL`] in place of the line that it leads to.
    pub(crate) text: String,
    /// The line of the same function that it jumps to or refers to, if any.
    pub(crate) leads_to: Option<usize>,
}

/// The functions that share a readable name: symbol and index of the unit.
type Instances = BTreeMap<String, usize>;

/// An executable whose functions can be listed.
#[derive(Debug)]
pub(crate) struct Disassembly<'d> {
    image: Image<'d>,
    /// Functions by readable name.
    pub(crate) functions: BTreeMap<String, Instances>,
}

impl<'d> Disassembly<'d> {
    pub(crate) fn new(image: Image<'d>) -> Self {
        let mut functions: BTreeMap<String, Instances> = BTreeMap::new();
        for (at, unit) in image.units.iter().enumerate() {
            if unit.symbol.is_none() {
                continue;
            }
            for symbol in image.names.get(&unit.start).into_iter().flatten() {
                let instances = functions.entry(readable_name(symbol)).or_default();
                instances.insert(symbol.clone(), at);
            }
        }
        Self { image, functions }
    }

    /// Returns the code of a unit.
    pub(crate) fn disassemble(&self, symbol: &str, unit: usize) -> FunctionCode {
        let unit = &self.image.units[unit];
        let instructions = self.instructions(unit);
        let starts: HashMap<u64, usize> = instructions
            .iter()
            .enumerate()
            .map(|(line, instruction)| (instruction.ip(), line))
            .collect();
        let mut writer = InstructionWriter::new();
        let lines = instructions.iter().map(|instruction| {
            let Some((target, extent)) = referenced_address(instruction) else {
                return CodeLine {
                    text: writer.write(instruction, None),
                    leads_to: None,
                };
            };
            // A recursive call is shown with the function's name, not with a label.
            let is_own = (unit.start..unit.end).contains(&target)
                && !(instruction.mnemonic() == Mnemonic::Call && target == unit.start);
            let leads_to = starts.get(&target).copied().filter(|_| is_own);
            let name = match leads_to {
                Some(_) => LABEL.to_string(),
                None if is_own => format!("+{:#x}", target - unit.start),
                None => self.name(target, extent),
            };
            CodeLine {
                text: writer.write(instruction, Some((target, name))),
                leads_to,
            }
        });
        FunctionCode {
            symbol: symbol.to_owned(),
            size: unit.end - unit.start,
            lines: lines.collect(),
        }
    }

    fn instructions(&self, unit: &CodeUnit) -> Vec<Instruction> {
        let bytes = self.image.bytes(unit.start, unit.end - unit.start);
        let bytes = bytes.unwrap_or_default();
        Decoder::with_ip(64, &bytes, unit.start, DecoderOptions::NONE)
            .iter()
            .collect()
    }

    /// Returns a name for an address that does not depend on the layout.
    fn name(&self, address: u64, extent: AccessSize) -> String {
        let Some(section) = self.image.section(address) else {
            return "elsewhere".to_owned();
        };
        let known = match section.content {
            SectionUse::Code => self.code_name(address),
            _ => self.data_name(address).or_else(|| {
                let pointer = self.target_name(address)?;
                Some(if section.name.starts_with(".got") {
                    format!("{pointer}@GOT")
                } else {
                    format!("&{pointer}")
                })
            }),
        };
        known.unwrap_or_else(|| match (section.content, extent) {
            (SectionUse::Constants, AccessSize::Exact(size)) => {
                let constant = self.constant(address, size);
                constant.map_or_else(
                    || section.name.clone(),
                    |value| format!("{}: {value}", section.name),
                )
            }
            _ => section.name.clone(),
        })
    }

    fn code_name(&self, address: u64) -> Option<String> {
        let unit = &self.image.units[self.image.unit_at(address)?];
        if unit.symbol.is_some() {
            return self.symbol_name(unit.start, address);
        }
        // A stub that jumps to a library function.
        let instructions = self.instructions(unit);
        let mut targets = instructions.iter().filter_map(referenced_address);
        targets.find_map(|(target, _)| {
            let written = self.image.written.get(&target)?;
            matches!(written, LoaderWrite::Import(..)).then_some(())?;
            Some(format!("{}@PLT", self.target_name(target)?))
        })
    }

    fn data_name(&self, address: u64) -> Option<String> {
        let (start, _) = self.image.object_at(address)?;
        self.symbol_name(start, address)
    }

    /// Returns the name of the symbol at `start`, with the offset of `address`.
    fn symbol_name(&self, start: u64, address: u64) -> Option<String> {
        let names = self.image.names.get(&start)?.iter();
        let names = names.map(|name| readable_name(name));
        let name = names.filter(|name| !is_generated_name(name)).min()?;
        Some(match address - start {
            0 => name,
            offset => format!("{name}+{offset:#x}"),
        })
    }

    /// Returns the name of the item whose address the loader writes here.
    fn target_name(&self, address: u64) -> Option<String> {
        match self.image.written.get(&address)? {
            LoaderWrite::Import(name, ..) => (!name.is_empty()).then(|| name.clone()),
            LoaderWrite::Address(target) => self
                .code_name(*target)
                .or_else(|| self.data_name(*target))
                .or_else(|| Some(self.image.section(*target)?.name.clone())),
        }
    }

    /// Returns the value of a constant in hexadecimal digits.
    fn constant(&self, address: u64, size: u64) -> Option<String> {
        let is_written = || {
            let before = address.saturating_sub(7);
            let mut written = self
                .image
                .written
                .range(before..address.saturating_add(size));
            written.next().is_some()
        };
        if !(1..=LONGEST_CONSTANT).contains(&size) || is_written() {
            return None;
        }
        let bytes = self.image.bytes(address, size)?;
        let bytes = bytes.iter().rev();
        let digits = bytes.fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
        let digits = digits.trim_start_matches('0');
        Some(format!(
            "0x{}",
            if digits.is_empty() { "0" } else { digits }
        ))
    }
}

/// Reports whether a compiler invented the name for a constant that has none; such names differ between builds.
fn is_generated_name(name: &str) -> bool {
    name.starts_with("anon.") || name.starts_with("alloc_")
}

/// Returns the address that an instruction jumps to or accesses, if any.
fn referenced_address(instruction: &Instruction) -> Option<(u64, AccessSize)> {
    if is_near_branch(instruction) {
        return Some((instruction.near_branch_target(), AccessSize::Open));
    }
    let is_address = instruction.is_ip_rel_memory_operand();
    is_address.then(|| {
        (
            instruction.ip_rel_memory_address(),
            access_size(instruction),
        )
    })
}

/// The address in the current instruction, and the name that replaces it.
type CurrentAddress = Rc<RefCell<Option<(u64, String)>>>;

/// Formats instructions, one at a time.
struct InstructionWriter {
    formatter: IntelFormatter,
    current: CurrentAddress,
}

impl InstructionWriter {
    fn new() -> Self {
        let current = CurrentAddress::default();
        let names = AddressNames(Rc::clone(&current));
        let mut formatter = IntelFormatter::with_options(Some(Box::new(names)), None);
        let options = formatter.options_mut();
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_uppercase_hex(false);
        options.set_space_after_operand_separator(true);
        options.set_show_branch_size(false);
        options.set_rip_relative_addresses(false);
        Self { formatter, current }
    }

    fn write(&mut self, instruction: &Instruction, address: Option<(u64, String)>) -> String {
        *self.current.borrow_mut() = address;
        let mut text = String::new();
        self.formatter.format(instruction, &mut text);
        text
    }
}

/// Resolves the address of the current instruction to its name.
struct AddressNames(CurrentAddress);

impl SymbolResolver for AddressNames {
    fn symbol(
        &mut self,
        instruction: &Instruction,
        _operand: u32,
        instruction_operand: Option<u32>,
        address: u64,
        _address_size: u32,
    ) -> Option<SymbolResult<'_>> {
        // An immediate operand may equal the address by chance.
        let kind = instruction.op_kind(instruction_operand?);
        if !(is_near_branch(instruction) || kind == OpKind::Memory) {
            return None;
        }
        let current = self.0.borrow();
        let (known, name) = current.as_ref()?;
        (*known == address).then(|| SymbolResult::with_string(address, name.clone()))
    }
}
