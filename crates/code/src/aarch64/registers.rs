//! Describes what is known of the values in the general registers at one instruction of a unit.

use super::register_use::RegisterUse;

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
