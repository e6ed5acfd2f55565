//! Files as the programs write them, and what they may not do.
