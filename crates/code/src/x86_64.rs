//! x86-64: finds the addresses in instructions, writes instructions as text, and has the facts about executables for this processor.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Formatter, Instruction, IntelFormatter, Mnemonic,
    OpKind, Register, SymbolResolver, SymbolResult,
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
    while can_decode(&mut decoder, code) {
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

/// Reports whether there is another instruction in the unit. Passes over data before it.
fn can_decode(decoder: &mut Decoder<'_>, code: &UnitCode<'_>) -> bool {
    while let Some(data) = code.data_at(decoder.ip()) {
        let next = usize::try_from(data.end - code.start);
        let next = next.map_or(code.bytes.len(), |next| next.min(code.bytes.len()));
        if next <= decoder.position() || decoder.set_position(next).is_err() {
            return false;
        }
        decoder.set_ip(code.start + next as u64);
    }
    decoder.can_decode()
}

/// Returns true if the last instruction of a unit is none that ends a path. Data at its end do not go on.
pub(crate) fn goes_on(code: &UnitCode<'_>) -> bool {
    let mut decoder = Decoder::with_ip(64, code.bytes, code.start, DecoderOptions::NONE);
    let mut last = Instruction::default();
    while can_decode(&mut decoder, code) {
        decoder.decode_out(&mut last);
    }
    let ends = matches!(
        last.flow_control(),
        FlowControl::Return
            | FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Interrupt
    ) || matches!(
        last.mnemonic(),
        Mnemonic::Ud0 | Mnemonic::Ud1 | Mnemonic::Ud2
    ) || code.data_at(code.end.saturating_sub(1)).is_some();
    let is_whole = code.bytes.len() as u64 == code.end - code.start;
    !(is_whole && ends)
}

/// Returns the length of the code without the instructions at its end that only fill up space (`nop` and `int3`). Returns the whole length if there is
/// nothing else.
pub(crate) fn length_without_padding(bytes: &[u8]) -> usize {
    let mut decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut length = 0;
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if !matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3) {
            length = decoder.position();
        }
    }
    if length == 0 { bytes.len() } else { length }
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
    let mut decoder = Decoder::with_ip(64, code.bytes, code.start, DecoderOptions::NONE);
    let mut instructions = Vec::new();
    while can_decode(&mut decoder, code) {
        let instruction = decoder.decode();
        let target = referenced_address(&instruction);
        instructions.push(InstructionText {
            address: instruction.ip(),
            text: writer.write(&instruction, target.map(|(address, _)| address)),
            target,
            is_call: instruction.mnemonic() == Mnemonic::Call,
        });
    }
    instructions
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::Entrance;

    #[test]
    fn padding_at_the_end_is_no_code() {
        let length = length_without_padding;
        assert_eq!(length(&[0xc3]), 1);
        assert_eq!(
            length(&[0xc3, 0x90, 0x66, 0x90, 0x0f, 0x1f, 0x40, 0, 0xcc]),
            1
        );
        assert_eq!(length(&[0x90, 0xc3]), 2);
        assert_eq!(length(&[0xcc, 0xcc]), 2, "there is nothing else");
        assert_eq!(length(&[]), 0);
    }

    #[test]
    fn code_goes_on_unless_its_last_instruction_ends_the_path() {
        let goes_on = |bytes: &[u8], data: std::ops::Range<u64>| {
            goes_on(&UnitCode {
                start: 0x1000,
                end: 0x1000 + bytes.len() as u64,
                bytes,
                data: std::slice::from_ref(&data),
                entrance: &|_| Entrance::Unknown,
            })
        };
        let none = 0..0;
        // ret; jmp; jmp rax; int3; ud2
        for end in [
            &[0xc3][..],
            &[0xeb, 0x10],
            &[0xff, 0xe0],
            &[0xcc],
            &[0x0f, 0x0b],
        ] {
            assert!(!goes_on(end, none.clone()), "{end:x?}");
        }
        // nop; call; je; the start of an instruction
        for end in [&[0x90][..], &[0xe8, 0, 1, 0, 0], &[0x74, 0x10], &[0xe8, 0]] {
            assert!(goes_on(end, none.clone()), "{end:x?}");
        }
        assert!(goes_on(&[], none));
        // The `ret` is data, and so is the rest.
        assert!(!goes_on(&[0x90, 0xc3, 0x90], 0x1001..0x1003));
        assert!(goes_on(&[0xc3, 0xc3, 0x90], 0x1000..0x1002));
    }
}
