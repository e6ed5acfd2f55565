//! What is written, as the other programs read it.
