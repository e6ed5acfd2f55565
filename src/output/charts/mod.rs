//! Pictures: self-contained SVG files, written without a library.
//!
//! Must not compute statistics: `compare` provides all numbers. Invariants: all text is escaped; colors follow the reader's color scheme, light or
//! dark; each picture has a title and a description for people who cannot see it.

mod flame_graph;
mod picture;
mod svg;

pub use flame_graph::{FlameGraph, write_flame_graph, write_flame_graph_written};
pub use picture::{Picture, SplitPicture, SplitRow, write_picture, write_split};
