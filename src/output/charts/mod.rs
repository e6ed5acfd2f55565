//! Pictures as self-contained SVG files, which are written without a library. Also the rows of a forest plot, which belong to an HTML page.
//!
//! This module must not compute statistics: the caller provides all numbers. Invariants: all text is escaped. Colors follow the reader's color
//! scheme, light or dark. Each picture has a title and a description for people who cannot see it.

mod flame_graph;
mod picture;
mod svg;

pub use flame_graph::{FlameGraph, write_flame_graph, write_flame_graph_written};
pub(crate) use picture::ForestPlot;
pub use picture::{Picture, SplitPicture, SplitRow, write_picture, write_split};
