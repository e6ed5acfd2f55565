//! Decodes the parts of 64-bit ARM instructions that concern addresses. Also has the facts about executables for this processor, such as the kinds of
//! their relocations.

use object::elf::{
    R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, R_AARCH64_JUMP_SLOT,
    R_AARCH64_RELATIVE,
};

use crate::decoded::RelocationKind;

/// End of the addresses that a process can use.
pub(crate) const END_OF_MEMORY: u64 = 1 << 48;

/// The instruction that stops a program (`brk #0`).
pub(crate) const TRAP: [u8; 4] = 0xd420_0000_u32.to_le_bytes();

/// Returns what the loader does for a relocation of this type.
pub(crate) fn relocation_kind(r_type: u32) -> RelocationKind {
    match r_type {
        R_AARCH64_RELATIVE => RelocationKind::Own,
        R_AARCH64_IRELATIVE => RelocationKind::Selected,
        R_AARCH64_ABS64 | R_AARCH64_GLOB_DAT | R_AARCH64_JUMP_SLOT => RelocationKind::Symbol,
        _ => RelocationKind::Other,
    }
}

/// Size of an instruction in bytes.
pub(super) const SIZE: u64 = 4;
/// Size in bytes of the pages whose addresses `adrp` makes. The pages of memory may have another size.
pub(super) const PAGE: u64 = 4096;
pub(super) const NOP: u32 = 0xd503_201f;
/// Masks of the bits that hold an address or a part of it: in branches (26, 19 or 14 bits; 19 also in loads from an address), in `adr` and `adrp`
/// (21), and in the instructions that add an offset to a page (12).
pub(super) const IMM26: u32 = 0x03ff_ffff;
pub(super) const IMM19: u32 = 0x00ff_ffe0;
pub(super) const IMM14: u32 = 0x0007_ffe0;
pub(super) const IMM21: u32 = 0x60ff_ffe0;
pub(super) const IMM12: u32 = 0x003f_fc00;

/// Returns the `length` bits of a word that begin at bit `low`.
pub(super) const fn bits(word: u32, low: u32, length: u32) -> u32 {
    (word >> low) & ((1 << length) - 1)
}

/// Returns the bits of a word as a signed number.
const fn signed_bits(word: u32, low: u32, length: u32) -> i64 {
    let shift = 64 - length;
    ((bits(word, low, length) as i64) << shift) >> shift
}

/// Returns the number of the register that is the destination of most instructions.
pub(super) const fn rd(word: u32) -> usize {
    bits(word, 0, 5) as usize
}

/// Returns the number of the register that is the first operand of most instructions, and the base of loads and stores.
pub(super) const fn rn(word: u32) -> usize {
    bits(word, 5, 5) as usize
}

/// A decoded instruction. It has only the parts that concern addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    /// A branch to an address that the instruction contains. `field` masks the bits of the address.
    Branch {
        target: u64,
        field: u32,
        kind: BranchKind,
    },
    /// A jump to an address in a register.
    Jump,
    /// A call of a function whose address is in a register.
    CallRegister,
    /// An instruction that returns to the caller.
    Return,
    /// An instruction that ends the program.
    End,
    /// A branch of an unknown kind.
    UnknownBranch,
    /// `adr`, which puts an address into a register.
    Address {
        target: u64,
    },
    /// `adrp`, which puts the start of a page into a register.
    Page {
        page: u64,
    },
    /// A load from an address that the instruction contains.
    LoadLiteral {
        target: u64,
        size: u64,
    },
    /// Adds the constant `by` to a 64-bit register. `can_use_page` is true if the constant may be an offset within a page.
    Add {
        by: i64,
        can_use_page: bool,
    },
    /// A sum or a difference of 64-bit registers, some of which may be shifted or multiplied first. `operands` are the registers that it adds
    /// unchanged, with 31 for none.
    AddRegister {
        operands: [usize; 2],
    },
    /// Copies a 64-bit register.
    Copy,
    /// A load from or a store to the sum of a register and a constant.
    Access(MemoryAccess),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BranchKind {
    Call,
    Always,
    Conditional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryAccess {
    pub(super) offset: i64,
    pub(super) size: u64,
    pub(super) can_use_page: bool,
    /// The number that the instruction also adds to its base register; `None` if it does not change the base.
    pub(super) writeback: Option<i64>,
}

impl Instruction {
    pub(super) fn decode(word: u32, at: u64) -> Self {
        let to = |offset: i64| at.wrapping_add_signed(offset);
        let branch = |field: u32, low: u32, kind| Self::Branch {
            target: to(4 * signed_bits(word, low, field.count_ones())),
            field,
            kind,
        };
        if word & 0x7c00_0000 == 0x1400_0000 {
            let is_call = word >> 31 == 1;
            let kind = if is_call {
                BranchKind::Call
            } else {
                BranchKind::Always
            };
            return branch(IMM26, 0, kind);
        }
        if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
            return branch(IMM19, 5, BranchKind::Conditional);
        }
        if word & 0x7e00_0000 == 0x3600_0000 {
            return branch(IMM14, 5, BranchKind::Conditional);
        }
        if word & 0x1f00_0000 == 0x1000_0000 {
            let offset = (signed_bits(word, 5, 19) << 2) | i64::from(bits(word, 29, 2));
            return if word >> 31 == 0 {
                Self::Address { target: to(offset) }
            } else {
                Self::Page {
                    page: (at & !(PAGE - 1)).wrapping_add_signed(offset << 12),
                }
            };
        }
        if word & 0x3b00_0000 == 0x1800_0000 {
            return Self::LoadLiteral {
                target: to(4 * signed_bits(word, 5, 19)),
                size: literal_size(word),
            };
        }
        if word & 0xbf80_0000 == 0x9100_0000 {
            let by = i64::from(bits(word, 10, 12)) << (12 * bits(word, 22, 1));
            let adds = bits(word, 30, 1) == 0;
            return Self::Add {
                by: if adds { by } else { -by },
                can_use_page: adds && bits(word, 22, 1) == 0,
            };
        }
        if word & 0xffe0_ffe0 == 0xaa00_03e0 {
            return Self::Copy;
        }
        if let Some(operands) = added_registers(word) {
            return Self::AddRegister { operands };
        }
        if let Some(access) = MemoryAccess::decode(word) {
            return Self::Access(access);
        }
        Self::decode_control(word)
    }

    /// Decodes branches to registers, and instructions that end a program.
    fn decode_control(word: u32) -> Self {
        // Words that begin with 16 zero bits are undefined instructions (`udf`), which end the program.
        if word >> 16 == 0 {
            return Self::End;
        }
        if bits(word, 25, 4) & 0b1110 != 0b1010 {
            return Self::Other;
        }
        match word >> 24 {
            // `brk` ends the program, except `brk #0xf000`: it is a breakpoint, after which a debugger may continue.
            0xd4 if word & 0x00e0_001f == 0x0020_0000 && bits(word, 5, 16) != 0xf000 => Self::End,
            0xd4 | 0xd5 => Self::Other,
            0xd6 | 0xd7 => match bits(word, 21, 3) {
                0 => Self::Jump,
                1 => Self::CallRegister,
                _ => Self::Return,
            },
            _ => Self::UnknownBranch,
        }
    }
}

/// Returns the registers that an instruction adds unchanged; `None` if it is not an addition or a subtraction. Register 31 stands for an operand that
/// is not added unchanged.
fn added_registers(word: u32) -> Option<[usize; 2]> {
    let (second, third) = (bits(word, 16, 5) as usize, bits(word, 10, 5) as usize);
    match word >> 21 {
        // `add` of two registers. A shifted register is not an address, so the next pattern leaves it out.
        0x458 if bits(word, 10, 6) == 0 => Some([rn(word), second]),
        // `add` with a shifted register, or `sub`.
        0x458..=0x45f | 0x658..=0x65f => Some([rn(word), 31]),
        // `madd`, `smaddl`, `umaddl`.
        0x4d8 | 0x4d9 | 0x4dd if bits(word, 15, 1) == 0 => Some([third, 31]),
        _ => None,
    }
}

/// Returns the number of bytes that a load reads, if the load contains its address.
fn literal_size(word: u32) -> u64 {
    let is_vector = bits(word, 26, 1) == 1;
    match bits(word, 30, 2) {
        2 if is_vector => 16,
        0 | 2 => 4,
        // A prefetch, the fourth kind, reads nothing.
        _ => 8,
    }
}

impl MemoryAccess {
    fn decode(word: u32) -> Option<Self> {
        let is_vector = bits(word, 26, 1) == 1;
        if word & 0x3a00_0000 == 0x2800_0000 {
            return Some(Self::decode_pair(word, is_vector));
        }
        let is_unsigned = word & 0x3b00_0000 == 0x3900_0000;
        let is_unscaled = word & 0x3b20_0000 == 0x3800_0000;
        if !is_unsigned && !is_unscaled {
            return None;
        }
        let scale = if is_vector && bits(word, 23, 1) == 1 {
            4
        } else {
            bits(word, 30, 2)
        };
        let size = 1 << scale;
        if is_unsigned {
            return Some(Self {
                offset: i64::from(bits(word, 10, 12)) << scale,
                size,
                can_use_page: true,
                writeback: None,
            });
        }
        let offset = signed_bits(word, 12, 9);
        let mode = bits(word, 10, 2);
        Some(Self {
            offset: if mode == 1 { 0 } else { offset },
            size,
            can_use_page: false,
            writeback: (mode & 1 == 1).then_some(offset),
        })
    }

    fn decode_pair(word: u32, is_vector: bool) -> Self {
        let opc = bits(word, 30, 2);
        let is_load = bits(word, 22, 1) == 1;
        let scale = match (is_vector, opc) {
            (true, _) => 2 + opc,
            (false, 0) => 2,
            // `ldpsw`, and a store of two registers and a tag.
            (false, 1) if is_load => 2,
            (false, 1) => 4,
            (false, _) => 3,
        };
        let offset = signed_bits(word, 15, 7) << scale;
        let mode = bits(word, 23, 2);
        Self {
            offset: if mode == 1 { 0 } else { offset },
            size: 2 << scale,
            can_use_page: false,
            writeback: (mode & 1 == 1).then_some(offset),
        }
    }
}
