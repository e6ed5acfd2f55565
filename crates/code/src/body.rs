//! The code of a unit with masked addresses, and the targets of these addresses.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use crate::image::{CodeUnit, Image};

/// Number of bytes that code accesses at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AccessSize {
    /// This many bytes.
    Exact(u64),
    /// Unknown, because the address is taken.
    Open,
}

/// An address that code refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressReference {
    /// Offset of the address in the unit.
    pub(crate) at: u32,
    pub(crate) target: u64,
    pub(crate) extent: AccessSize,
}

/// The decoded code of a unit.
#[derive(Debug, Default)]
pub(crate) struct UnitBody {
    /// The bytes, with zeros in place of addresses outside the unit.
    pub(crate) masked: Vec<u8>,
    pub(crate) references: Vec<AddressReference>,
    /// Whether it accesses thread-local storage.
    pub(crate) uses_threads: bool,
    /// Whether it reads signed 32-bit numbers by an index, as code with a table of distances does.
    pub(crate) reads_distances: bool,
}

impl UnitBody {
    pub(crate) fn decode(unit: &CodeUnit, image: &Image<'_>) -> Self {
        let Some(bytes) = image.bytes(unit.start, unit.end - unit.start) else {
            return Self::default();
        };
        let mut body = Self {
            masked: bytes.clone(),
            ..Self::default()
        };
        let mut decoder = Decoder::with_ip(64, &bytes, unit.start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            let at = decoder.position();
            decoder.decode_out(&mut instruction);
            let offsets = decoder.get_constant_offsets(&instruction);
            let mut found = |target: u64, offset: usize, size: usize, extent| {
                if (unit.start..unit.end).contains(&target) {
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
            body.uses_threads |=
                matches!(instruction.memory_segment(), Register::FS | Register::GS);
            body.reads_distances |= instruction.code() == Code::Movsxd_r64_rm32
                && instruction.op1_kind() == OpKind::Memory
                && instruction.memory_index() != Register::None
                && instruction.memory_index_scale() == 4;
        }
        body
    }
}

/// Reports whether the instruction is a jump or a call that contains its target address.
pub(crate) fn is_near_branch(instruction: &Instruction) -> bool {
    matches!(
        instruction.op0_kind(),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
    )
}

/// Returns the number of bytes that an instruction accesses at its address.
pub(crate) fn access_size(instruction: &Instruction) -> AccessSize {
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
