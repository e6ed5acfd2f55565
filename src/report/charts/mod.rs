//! Pictures: self-contained SVG files, written without a library.
//!
//! Must not compute statistics: what is drawn comes from `compare`. Invariants: every text is escaped; colours follow the reader's
//! scheme, light or dark; the whole has a title and a description for those who cannot see it.

mod axis;
mod flame_graph;
mod panels;
mod picture;
mod split;
mod svg;

pub use flame_graph::{FlameGraph, write_flame_graph, write_flame_graph_place};
pub use picture::{Picture, write_picture};
pub use split::{SplitPicture, SplitRow, write_split};
