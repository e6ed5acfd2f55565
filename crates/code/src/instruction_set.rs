//! The instruction sets whose code can be compared and listed. The header of an executable says which instruction set it uses. So a machine can also
//! compare executables for another processor.

use object::Architecture;
use object::elf::{EM_AARCH64, EM_X86_64};
use object::macho::{CPU_TYPE_ARM64, CPU_TYPE_X86_64, MH_MAGIC_64};

use crate::decoded::{InstructionText, RelocationKind, UnitBody, UnitCode};
use crate::{aarch64, x86_64};

/// An instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    X86_64,
    Aarch64,
}

impl InstructionSet {
    /// Returns the instruction set of an architecture; `None` if it is not supported.
    pub(crate) fn from_architecture(architecture: Architecture) -> Option<Self> {
        match architecture {
            Architecture::X86_64 => Some(Self::X86_64),
            Architecture::Aarch64 => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// Returns the instruction set of an executable.
    pub(crate) fn from_executable(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"MZ") {
            return Some(Self::X86_64);
        }
        if bytes.starts_with(&MH_MAGIC_64.to_le_bytes()) {
            let kind = bytes.get(4..8)?;
            return match u32::from_le_bytes(kind.try_into().ok()?) {
                CPU_TYPE_X86_64 => Some(Self::X86_64),
                CPU_TYPE_ARM64 => Some(Self::Aarch64),
                _ => None,
            };
        }
        // In a little-endian ELF file, the header names the processor at this offset (`e_machine`).
        let machine = bytes.get(18..20)?;
        match u16::from_le_bytes(machine.try_into().ok()?) {
            EM_X86_64 => Some(Self::X86_64),
            EM_AARCH64 => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// Returns true if assemblers mark, by symbols, which parts of the code are data.
    pub(crate) fn marks_data(self) -> bool {
        self == Self::Aarch64
    }

    /// Returns true if compilers merge several variables into one. Code then has the address of one of them, and computes those of the others.
    pub(crate) fn merges_variables(self) -> bool {
        self == Self::Aarch64
    }

    /// Returns the end of the addresses that a process can use.
    pub(crate) fn end_of_memory(self) -> u64 {
        match self {
            Self::X86_64 => x86_64::END_OF_MEMORY,
            Self::Aarch64 => aarch64::END_OF_MEMORY,
        }
    }

    /// Returns the instruction that stops a program.
    pub(crate) fn trap(self) -> &'static [u8] {
        match self {
            Self::X86_64 => &x86_64::TRAP,
            Self::Aarch64 => &aarch64::TRAP,
        }
    }

    /// Returns what the loader does for a relocation of the type `r_type`.
    pub(crate) fn relocation_kind(self, r_type: u32) -> RelocationKind {
        match self {
            Self::X86_64 => x86_64::relocation_kind(r_type),
            Self::Aarch64 => aarch64::relocation_kind(r_type),
        }
    }

    /// Returns true if the instructions of a unit show that it never returns. Always returns false for x86-64, where this does not matter.
    pub(crate) fn is_endless(self, code: &UnitCode<'_>) -> bool {
        match self {
            Self::X86_64 => false,
            Self::Aarch64 => aarch64::is_endless(code),
        }
    }

    /// Returns true if the code of a unit may go on to what follows the unit.
    pub(crate) fn goes_on(self, code: &UnitCode<'_>) -> bool {
        match self {
            Self::X86_64 => x86_64::goes_on(code),
            Self::Aarch64 => aarch64::goes_on(code),
        }
    }

    /// Returns the length of the code without the instructions at its end that only fill up space. Returns the whole length if there is nothing else.
    pub(crate) fn length_without_padding(self, bytes: &[u8]) -> usize {
        match self {
            Self::X86_64 => x86_64::length_without_padding(bytes),
            Self::Aarch64 => aarch64::length_without_padding(bytes),
        }
    }

    /// Decodes the code of a unit.
    pub(crate) fn decode(self, code: &UnitCode<'_>) -> UnitBody {
        match self {
            Self::X86_64 => x86_64::decode(code),
            Self::Aarch64 => aarch64::decode(code),
        }
    }

    /// Returns the instructions of a unit as text.
    pub(crate) fn list(self, code: &UnitCode<'_>) -> Vec<InstructionText> {
        match self {
            Self::X86_64 => x86_64::list(code),
            Self::Aarch64 => aarch64::list(code),
        }
    }
}
