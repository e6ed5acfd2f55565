//! 64-bit ARM: the addresses in instructions, the text of instructions, and what executables for this processor have of their own.
//!
//! An instruction of four bytes has no room for an address. `adrp` puts the page of an address into a register, and a later `add`, load or store has
//! the address within the page. So `addresses.rs` follows the registers of a unit along all its paths (`registers.rs`). If code uses a page in a way
//! that is not known here, its unit has unknown addresses. This relies on compilers, which use a page only together with an address within it.

mod addresses;
mod instruction;
mod register_use;
mod registers;
mod text;

pub(crate) use addresses::{decode, is_endless};
pub(crate) use instruction::{END_OF_MEMORY, TRAP, relocation_kind};
pub(crate) use text::list;
