//! What is known of the values in general registers at a place in the code.

use super::register_use::RegisterUse;

/// The value in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegisterValue {
    /// The register has no value that code reads, as far as is known.
    Unset,
    /// A call may have replaced a page. No code that a compiler makes reads the register.
    Stale,
    /// The address that `adrp` makes, without its last twelve bits.
    Page(u64),
    /// An address that code has, plus a number if that is known.
    Address { origin: u64, offset: Option<i64> },
    /// Neither a page nor an address that is known.
    Plain,
    /// A page if the code came here in one way, and something else if it came in another.
    Mixed,
}

impl RegisterValue {
    /// Returns what is known if the value is either `self` or `other`. The result is never earlier in the order of the variants than both, so that
    /// repeated joins come to an end.
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

    /// Returns the sum of the value and a number, if that is an address that is known in part. `by` is `None` for an unknown number.
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

    /// Reports whether code that reads the value must be known, so that no address is missed.
    pub(super) fn is_page(self) -> bool {
        matches!(self, Self::Page(_) | Self::Mixed | Self::Stale)
    }
}

/// The first register that a call leaves as it was, and the last one.
const KEPT: std::ops::RangeInclusive<usize> = 19..=29;

/// The values of the general registers. That of register 31, the stack pointer or zero, is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Registers([RegisterValue; 32]);

impl Registers {
    pub(super) const UNSET: Self = Self([RegisterValue::Unset; 32]);

    /// Returns the registers at the entry of a function. It only saves those that calls leave as they were.
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

    /// Joins other values. Reports whether any value changed.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let before = *self;
        for (value, other) in self.0.iter_mut().zip(&other.0) {
            *value = value.join(*other);
        }
        *self != before
    }

    /// Reports whether an instruction reads a register whose value must be known.
    pub(super) fn is_page_read(&self, registers: RegisterUse) -> bool {
        let read = (0..31).filter(|register| registers.reads >> register & 1 == 1);
        read.into_iter()
            .any(|register| self.get(register).is_page())
    }

    /// Reports whether an instruction reads a register that has a page, however the code came here.
    pub(super) fn is_certain_page_read(&self, registers: RegisterUse) -> bool {
        let mut read = (0..31).filter(|register| registers.reads >> register & 1 == 1);
        read.any(|register| matches!(self.get(register), RegisterValue::Page(_)))
    }

    /// Reports whether any register has a page.
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

    /// Returns the values after a call.
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

    /// Returns the values in the registers that a call leaves as they were.
    pub(super) fn kept_by_calls(&self) -> Self {
        let mut kept = Self::UNSET;
        for register in KEPT {
            kept.set(register, self.get(register));
        }
        kept
    }
}
