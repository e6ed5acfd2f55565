//! `cargo perfcheck show`: shows measurements of a stored run as a table, as full statistics or as a picture.

mod command;

pub use command::{ShowOptions, show};
