//! 64-bit ARM: finds the addresses in instructions, writes instructions as text, and has the facts about executables for this processor.
//!
//! An instruction has four bytes, which have no room for a whole address. So code takes two instructions: `adrp` puts the start of a page of 4 KiB
//! into a register, and a later `add`, load or store has the offset within the page. To find the whole address, `addresses.rs` follows the values of
//! the registers (`registers.rs`) along all paths through a unit. If code uses a page in a way that this module does not know, the unit is marked as
//! having unknown addresses, and counts as different from any other code. This relies on compilers: they use a page only together with an offset
//! within it.

mod addresses;
mod instruction;
mod registers;
mod text;

pub(crate) use addresses::{decode, goes_on, is_endless, length_without_padding};
pub(crate) use instruction::{END_OF_MEMORY, TRAP, relocation_kind};
pub(crate) use text::list;
