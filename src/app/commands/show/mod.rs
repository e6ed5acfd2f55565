//! `cargo perfcheck show`: what a stored run measured, in a table, in every statistic, or in a picture.

mod command;
mod draw;

pub use command::{RunView, show};
