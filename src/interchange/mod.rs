//! Imports from and exports to the formats of other programs.
//!
//! This module has the formats, the column map, the units and the exact decimal values. It must not store, decide or print anything, and it guesses a
//! unit only if the user asks for it. Invariant: a value that is read becomes a fraction of two whole numbers, as exact as 64 bits allow, or an error
//! with its line and column. Rows that cannot be read are never skipped silently.

mod column_map;
mod error;
mod export;
mod formats;
mod groups;
mod input;
mod portable;
mod table;
mod unit;

pub use column_map::{ColumnMap, InputColumn, ValueColumn};
pub use error::{ExchangeError, MalformedRow};
pub use export::{ExportedRun, file_name, write_benchstat, write_bmf, write_criterion, write_csv};
pub use formats::{FileFormat, ForeignInput, ForeignRun, detect, read_runs};
pub use groups::{
    GroupRow, Guess, IdGroup, ImportedGroups, IterationLayout, ReadOptions, clean, warm_up_rows,
};
pub use input::{InputContent, read};
pub use portable::{
    PortableConclusion, PortableHead, PortablePair, PortableRun, PortableVerdict, read_portable,
    write_portable,
};
pub use table::{TableLayout, read_tables};
pub use unit::ValueUnit;
