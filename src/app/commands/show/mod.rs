//! `cargo perfcheck show`: shows measurements of a stored run as a table, as full statistics or as a picture.

mod command;
mod draw;
mod options;

pub use command::show;
pub use options::ShowOptions;
