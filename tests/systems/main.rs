//! The checklist of the five systems whose statistics the tool reproduces: a test a row, and golden values.
