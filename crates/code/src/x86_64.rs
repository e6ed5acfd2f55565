//! x86-64: finds the addresses in instructions, writes instructions as text, and has the facts about executables for this processor.

use iced_x86::{
    Code, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind,
    Register, SymbolResolver, SymbolResult,
};
use object::elf::{
    R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE,
};
use std::cell::Cell;
use std::rc::Rc;

use crate::decoded::{
    AccessSize, AddressReference, InstructionText, RelocationKind, TARGET, UnitBody, UnitCode,
};

/// End of the addresses that a process can use.
pub(crate) const END_OF_MEMORY: u64 = 1 << 47;

/// The instruction that stops a program (`int3`).
pub(crate) const TRAP: [u8; 1] = [0xcc];

/// Returns what the loader does for a relocation of this type.
pub(crate) fn relocation_kind(r_type: u32) -> RelocationKind {
    match r_type {
        R_X86_64_RELATIVE => RelocationKind::Own,
        R_X86_64_IRELATIVE => RelocationKind::Selected,
        R_X86_64_64 | R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => RelocationKind::Symbol,
        _ => RelocationKind::Other,
    }
}

/// Decodes the code of a unit.
pub(crate) fn decode(code: &UnitCode<'_>) -> UnitBody {
    let bytes = code.bytes;
    let mut body = UnitBody {
        masked: bytes.to_vec(),
        ..UnitBody::default()
    };
    let mut decoder = Decoder::with_ip(64, bytes, code.start, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        let at = decoder.position();
        decoder.decode_out(&mut instruction);
        let offsets = decoder.get_constant_offsets(&instruction);
        let mut found = |target: u64, offset: usize, size: usize, extent| {
            if code.contains(target) {
                return;
            }
            body.masked[at + offset..at + offset + size].fill(0);
            body.references.push(AddressReference {
                at: (at + offset) as u32,
                target,
                extent,
            });
        };
        if is_near_branch(&instruction) && offsets.has_immediate() {
            let target = instruction.near_branch_target();
            let (offset, size) = (offsets.immediate_offset(), offsets.immediate_size());
            found(target, offset, size, AccessSize::Open);
        }
        if instruction.is_ip_rel_memory_operand() && offsets.has_displacement() {
            let target = instruction.ip_rel_memory_address();
            let (offset, size) = (offsets.displacement_offset(), offsets.displacement_size());
            found(target, offset, size, access_size(&instruction));
        }
        body.uses_threads |= matches!(instruction.memory_segment(), Register::FS | Register::GS);
        body.reads_distances |= instruction.code() == Code::Movsxd_r64_rm32
            && instruction.op1_kind() == OpKind::Memory
            && instruction.memory_index() != Register::None
            && instruction.memory_index_scale() == 4;
    }
    body
}

/// Reports whether the instruction is a jump or a call that contains its target address.
fn is_near_branch(instruction: &Instruction) -> bool {
    matches!(
        instruction.op0_kind(),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
    )
}

/// Returns the number of bytes that an instruction accesses at the address in it.
fn access_size(instruction: &Instruction) -> AccessSize {
    let beyond = matches!(
        instruction.mnemonic(),
        Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc
    ) && instruction.op1_kind() == OpKind::Register;
    match instruction.memory_size().size() {
        0 => AccessSize::Open,
        _ if beyond || instruction.mnemonic() == Mnemonic::Lea => AccessSize::Open,
        size => AccessSize::Exact(size as u64),
    }
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

/// Returns the instructions of a unit in Intel syntax.
pub(crate) fn list(code: &UnitCode<'_>) -> Vec<InstructionText> {
    let mut writer = InstructionWriter::new();
    let instructions = Decoder::with_ip(64, code.bytes, code.start, DecoderOptions::NONE);
    let text = |instruction: Instruction| {
        let target = referenced_address(&instruction);
        InstructionText {
            address: instruction.ip(),
            text: writer.write(&instruction, target.map(|(address, _)| address)),
            target,
            is_call: instruction.mnemonic() == Mnemonic::Call,
        }
    };
    instructions.into_iter().map(text).collect()
}

/// The address in the current instruction, if it has one.
type CurrentAddress = Rc<Cell<Option<u64>>>;

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

    fn write(&mut self, instruction: &Instruction, address: Option<u64>) -> String {
        self.current.set(address);
        let mut text = String::new();
        self.formatter.format(instruction, &mut text);
        text
    }
}

/// The resolver from which the formatter gets the placeholder for the address in the current instruction.
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
        (self.0.get()? == address).then(|| SymbolResult::with_string(address, TARGET.to_string()))
    }
}
