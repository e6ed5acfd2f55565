//! The general registers of 64-bit ARM: which of them an instruction reads and writes, and what is known of their values at one instruction of a
//! unit.

use super::instruction::{bits, rd, rn};

/// The general registers that an instruction reads and those that it writes. Each register is one bit, see [`one`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegisterUse {
    pub(super) reads: u32,
    pub(super) writes: u32,
}

/// Returns the bit of a register. Register 31 has no bit, because it is the stack pointer or zero.
pub(super) const fn one(register: usize) -> u32 {
    if register == 31 { 0 } else { 1 << register }
}

impl RegisterUse {
    /// Returns the registers that an instruction uses. Returns `None` if the instruction is not known; see [`Self::any`].
    pub(super) fn decode(word: u32) -> Option<Self> {
        match bits(word, 25, 4) {
            0b1000 | 0b1001 => Self::decode_constants(word),
            0b1010 | 0b1011 => Self::decode_control(word),
            0b0101 | 0b1101 => Self::decode_arithmetic(word),
            0b0111 | 0b1111 => Some(Self::decode_vectors(word)),
            class if class & 0b0101 == 0b0100 => Self::decode_memory(word),
            _ => None,
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "what all callers return")]
    const fn known(reads: u32, writes: u32) -> Option<Self> {
        Some(Self { reads, writes })
    }

    /// Decodes an instruction that computes with a constant.
    fn decode_constants(word: u32) -> Option<Self> {
        let (d, n) = (one(rd(word)), one(rn(word)));
        let opc = bits(word, 29, 2);
        match bits(word, 23, 3) {
            0 | 1 => Self::known(0, d),
            2..=4 => Self::known(n, d),
            // Moves of a constant. `movk` also reads its destination, because it keeps the other bits.
            5 => Self::known(if opc == 3 { d } else { 0 }, d),
            // Moves of bit fields. `bfm` also reads its destination, because it keeps the other bits.
            6 => Self::known(if opc == 1 { n | d } else { n }, d),
            _ if opc == 0 => Self::known(n | one(bits(word, 16, 5) as usize), d),
            _ => None,
        }
    }

    /// Decodes a branch or a system instruction.
    fn decode_control(word: u32) -> Option<Self> {
        let t = one(rd(word));
        if word & 0x7c00_0000 == 0x1400_0000 || word & 0xff00_0000 == 0x5400_0000 {
            return Self::known(0, 0);
        }
        if word & 0x7c00_0000 == 0x3400_0000 {
            return Self::known(t, 0);
        }
        match word >> 24 {
            // Exceptions. A system call writes its result to the first register.
            0xd4 => Self::known(0, u32::from(word & 0x00e0_001f == 1)),
            0xd5 if bits(word, 22, 2) == 0 => {
                // Hints that sign the address in register 17 with register 16, or check its signature.
                let signs = word & 0xffff_fe1f == 0xd503_201f && bits(word, 8, 1) == 1;
                let signed = if signs { one(16) | one(17) } else { 0 };
                let is_read = bits(word, 21, 1) == 1;
                let (reads, writes) = if is_read { (0, t) } else { (t, 0) };
                Self::known(reads | signed, writes | signed)
            }
            0xd6 | 0xd7 => Self::known(one(rn(word)) | t, 0),
            _ => None,
        }
    }

    /// Decodes an instruction that computes with registers.
    fn decode_arithmetic(word: u32) -> Option<Self> {
        let (d, n) = (one(rd(word)), one(rn(word)));
        let m = one(bits(word, 16, 5) as usize);
        let further = bits(word, 10, 6);
        if bits(word, 28, 1) == 0 {
            return Self::known(n | m, d);
        }
        match bits(word, 21, 4) {
            // Additions and subtractions with carry.
            0b0000 if further == 0 => Self::known(n | m, d),
            // Conditional comparisons with a register or a constant.
            0b0010 if bits(word, 11, 1) == 0 => Self::known(n | m, 0),
            0b0010 => Self::known(n, 0),
            // Conditional selections.
            0b0100 => Self::known(n | m, d),
            0b0110 if bits(word, 30, 1) == 0 => Self::known(n | m, d),
            // Operations with one operand. Those that sign an address also read the address from their destination.
            0b0110 => {
                let signs = bits(word, 16, 5) != 0;
                Self::known(if signs { n | d } else { n }, d)
            }
            // Operations with three operands.
            0b1000..=0b1111 => Self::known(n | m | one(bits(word, 10, 5) as usize), d),
            _ => None,
        }
    }

    /// Decodes an instruction for vectors or floating point. Some of them move or convert a value from or to a general register.
    fn decode_vectors(word: u32) -> Self {
        let from = Self {
            reads: one(rn(word)),
            writes: 0,
        };
        let to = Self {
            reads: 0,
            writes: one(rd(word)),
        };
        let converts_integers = word & 0x7f20_0000 == 0x1e20_0000 && bits(word, 10, 6) == 0;
        let converts_fixed = word & 0x7f20_0000 == 0x1e00_0000;
        if converts_integers || converts_fixed {
            return match bits(word, 16, 3) {
                2 | 3 | 7 => from,
                _ => to,
            };
        }
        if word & 0xbfe0_8400 == 0x0e00_0400 {
            match bits(word, 11, 4) {
                1 | 3 => return from,
                5 | 7 => return to,
                _ => {}
            }
        }
        Self {
            reads: 0,
            writes: 0,
        }
    }

    /// Decodes a load or a store.
    fn decode_memory(word: u32) -> Option<Self> {
        let (t, n) = (one(rd(word)), one(rn(word)));
        let m = one(bits(word, 16, 5) as usize);
        let second = one(bits(word, 10, 5) as usize);
        let is_vector = bits(word, 26, 1) == 1;
        let moved = |reads: u32, writes: u32, is_load: bool| match (is_vector, is_load) {
            (true, _) => Self::known(reads, writes),
            (false, true) => Self::known(reads, writes | t),
            (false, false) => Self::known(reads | t, writes),
        };
        match bits(word, 27, 3) {
            0b001 if is_vector => {
                // Several vectors; those that move the base may add a register.
                let moves = bits(word, 23, 1) == 1;
                Self::known(if moves { n | m } else { n }, if moves { n } else { 0 })
            }
            0b001 if bits(word, 24, 1) == 0 => Self::decode_exclusive(word),
            0b011 if bits(word, 24, 1) == 0 => {
                let is_prefetch = bits(word, 30, 2) == 3;
                if is_prefetch {
                    Self::known(0, 0)
                } else {
                    moved(0, 0, true)
                }
            }
            // Ordered loads and stores whose address is a register plus a constant.
            0b011 if word & 0x0020_0c00 == 0 && !is_vector => moved(n, 0, bits(word, 22, 2) != 0),
            0b101 => {
                let is_load = bits(word, 22, 1) == 1;
                let base = if bits(word, 23, 1) == 1 { n } else { 0 };
                match (is_vector, is_load) {
                    (true, _) => Self::known(n, base),
                    (false, true) => Self::known(n, base | t | second),
                    (false, false) => Self::known(n | t | second, base),
                }
            }
            0b111 => {
                let is_load = bits(word, 22, 2) != 0;
                let is_prefetch = bits(word, 22, 2) == 2 && bits(word, 30, 2) == 3 && !is_vector;
                let shape = (bits(word, 24, 1), bits(word, 21, 1), bits(word, 10, 2));
                match shape {
                    (1, ..) | (0, 0, 0 | 2) if is_prefetch => Self::known(n, 0),
                    (0, 1, 2) if is_prefetch => Self::known(n | m, 0),
                    (1, ..) | (0, 0, 0 | 2) => moved(n, 0, is_load),
                    (0, 0, _) => moved(n, n, is_load),
                    (0, 1, 2) => moved(n | m, 0, is_load),
                    (0, 1, 0) if !is_vector => Self::decode_atomic(word),
                    // A load through a signed address.
                    (0, 1, _) if !is_vector => {
                        Self::known(n, t | if bits(word, 11, 1) == 1 { n } else { 0 })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Decodes an exclusive or ordered load or store, or a comparison with exchange (`cas`).
    fn decode_exclusive(word: u32) -> Option<Self> {
        let (t, n) = (one(rd(word)), one(rn(word)));
        let s = one(bits(word, 16, 5) as usize);
        let second = one(bits(word, 10, 5) as usize);
        let is_load = bits(word, 22, 1) == 1;
        match (bits(word, 23, 1), bits(word, 21, 1)) {
            (_, 0) if is_load => Self::known(n, t),
            (1, 0) => Self::known(n | t, 0),
            (0, 0) => Self::known(n | t, s),
            (0, 1) if bits(word, 31, 1) == 1 && is_load => Self::known(n, t | second),
            (0, 1) if bits(word, 31, 1) == 1 => Self::known(n | t | second, s),
            (1, 1) => Self::known(n | t | s, s),
            _ => None,
        }
    }

    /// Decodes an atomic operation on memory.
    fn decode_atomic(word: u32) -> Option<Self> {
        let (t, n) = (one(rd(word)), one(rn(word)));
        let s = one(bits(word, 16, 5) as usize);
        match (bits(word, 15, 1), bits(word, 12, 3)) {
            (0, _) | (1, 0) => Self::known(n | s, t),
            (1, 4) => Self::known(n, t),
            _ => None,
        }
    }

    /// Returns the registers that an unknown instruction may use: every register that one of its fields may name.
    pub(super) fn any(word: u32) -> Self {
        let fields = [0, 5, 10, 16].map(|low| one(bits(word, low, 5) as usize));
        let named = fields.into_iter().fold(0, |all, field| all | field);
        Self {
            reads: named,
            writes: named,
        }
    }
}

/// The value in a register, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegisterValue {
    /// As far as is known, the register has no value that code reads.
    Unset,
    /// The register had a page before a call, which may have changed it. Compilers make no code that reads such a register.
    Stale,
    /// The start of a page, which `adrp` has put into the register. The last twelve bits are zero.
    Page(u64),
    /// The address `origin`, which appears in the code, plus `offset`. The offset is `None` if it is not known.
    Address { origin: u64, offset: Option<i64> },
    /// A value that is neither a page nor a known address.
    Plain,
    /// A page on some of the paths that lead here, and something else on others, such as another page.
    Mixed,
}

impl RegisterValue {
    /// Returns what is known of a value that is either `self` or `other`. In the order in which the variants are declared, a join only moves forward,
    /// so repeated joins come to an end.
    fn join(self, other: Self) -> Self {
        if self == other || other == Self::Unset {
            return self;
        }
        match (self, other) {
            (Self::Unset, _) => other,
            (Self::Stale, value) | (value, Self::Stale) => value,
            (Self::Page(_) | Self::Mixed, _) | (_, Self::Page(_) | Self::Mixed) => Self::Mixed,
            (Self::Address { origin, .. }, Self::Address { origin: same, .. })
                if origin == same =>
            {
                Self::Address {
                    origin,
                    offset: None,
                }
            }
            _ => Self::Plain,
        }
    }

    /// Returns the sum of the value and a number if the value is a known address, otherwise `None`. `by` is `None` if the number is unknown.
    pub(super) fn plus(self, by: Option<i64>) -> Option<Self> {
        let Self::Address { origin, offset } = self else {
            return None;
        };
        let sum = offset.zip(by).map(|(offset, by)| offset.wrapping_add(by));
        Some(Self::Address {
            origin,
            offset: sum,
        })
    }

    /// Returns true if the value may be a page. An instruction that reads it must then be one that this crate understands, or an address would be
    /// missed.
    pub(super) fn is_page(self) -> bool {
        matches!(self, Self::Page(_) | Self::Mixed | Self::Stale)
    }
}

/// The registers whose values a called function must preserve.
const KEPT: std::ops::RangeInclusive<usize> = 19..=29;

/// The values in the general registers, as far as they are known. Register 31, which is the stack pointer or zero, is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Registers([RegisterValue; 32]);

impl Registers {
    pub(super) const UNSET: Self = Self([RegisterValue::Unset; 32]);

    /// Returns what is known at the entry of a function. The registers in [`KEPT`] count as unset, because the function only saves and restores the
    /// values that they have there.
    pub(super) fn at_entry() -> Self {
        let mut registers = Self([RegisterValue::Plain; 32]);
        for register in KEPT {
            registers.set(register, RegisterValue::Unset);
        }
        registers
    }

    pub(super) fn get(&self, register: usize) -> RegisterValue {
        if register == 31 {
            RegisterValue::Plain
        } else {
            self.0[register]
        }
    }

    pub(super) fn set(&mut self, register: usize, value: RegisterValue) {
        self.0[register] = value;
    }

    /// Joins each value with that of `other`. Returns true if any value changed.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let before = *self;
        for (value, other) in self.0.iter_mut().zip(&other.0) {
            *value = value.join(*other);
        }
        *self != before
    }

    /// Returns true if an instruction reads a register that may have a page.
    pub(super) fn is_page_read(&self, registers: RegisterUse) -> bool {
        let read = (0..31).filter(|register| registers.reads >> register & 1 == 1);
        read.into_iter()
            .any(|register| self.get(register).is_page())
    }

    /// Returns true if an instruction reads a register that has a page on every path that leads here.
    pub(super) fn is_certain_page_read(&self, registers: RegisterUse) -> bool {
        let mut read = (0..31).filter(|register| registers.reads >> register & 1 == 1);
        read.any(|register| matches!(self.get(register), RegisterValue::Page(_)))
    }

    /// Returns true if any register has a page on at least one path that leads here.
    pub(super) fn have_page(&self) -> bool {
        (0..31).any(|register| {
            matches!(
                self.get(register),
                RegisterValue::Page(_) | RegisterValue::Mixed
            )
        })
    }

    /// Replaces the values of the registers that an instruction writes.
    pub(super) fn write(&mut self, registers: RegisterUse, value: RegisterValue) {
        for register in (0..31).filter(|register| registers.writes >> register & 1 == 1) {
            self.set(register, value);
        }
    }

    /// Returns what is known after a call.
    pub(super) fn after_call(&self) -> Self {
        let mut after = Self::UNSET;
        for register in 0..31 {
            let value = self.get(register);
            if KEPT.contains(&register) {
                after.set(register, value);
            } else if value.is_page() {
                after.set(register, RegisterValue::Stale);
            }
        }
        after
    }

    /// Returns what is known of the registers in [`KEPT`]. All others are unset.
    pub(super) fn kept_by_calls(&self) -> Self {
        let mut kept = Self::UNSET;
        for register in KEPT {
            kept.set(register, self.get(register));
        }
        kept
    }
}
