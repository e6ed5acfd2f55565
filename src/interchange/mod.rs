//! Imports from and exports to the formats of other programs.
//!
//! Owns the formats, the column map, units and exact decimal values. Must not store, decide or print, and guesses a unit only on request.
//! Invariant: every value becomes a fraction of two whole numbers, as exact as 64 bits allow, or an error with line and column.
//! Malformed rows are never skipped silently.

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
