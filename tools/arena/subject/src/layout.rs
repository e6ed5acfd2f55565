//! What may change an executable without changing its work. `keep` is called in set-up alone.

use std::hint::black_box;

/// Any text: other lengths move the data behind it.
pub static LABEL: &str = "base";

/// Functions that nobody calls, held in the executable by this table.
static KEPT: &[fn(u64) -> u64] = &[];

/// Makes the linker keep the label and the table.
pub fn keep() {
    black_box((LABEL, KEPT));
}
