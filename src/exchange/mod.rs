//! Formats of other programs, read into plain data: what they measured, benchmark by benchmark.
//!
//! Owns the formats, the declared column map, units and exact decimal values. Must not store, decide or print, and never guesses a
//! unit unless it was told to. Invariant: every value that goes in comes out as a fraction of two whole numbers, exactly as far as 64 bits hold it, or as an
//! error with its line and column; what is malformed is never skipped in silence.

mod cleaning;
mod column_map;
mod decimal;
mod error;
mod export;
mod formats;
mod groups;
mod input;
mod portable;
mod table;
mod unit;

pub use cleaning::{clean, warm_up_rows};
pub use column_map::{ColumnMap, InputColumn, ValueColumn};
pub use error::{ExchangeError, Malformed};
pub use export::{ExportedRun, file_name, write_benchstat, write_bmf, write_criterion, write_csv};
pub use formats::{FileFormat, ForeignRun, Requested, detect, read_foreign};
pub use groups::{GroupRow, Guess, IdGroup, Imported, IterationLayout, Reading};
pub use input::{InputContent, read};
pub use portable::{
    PortableConclusion, PortableHead, PortablePair, PortableReference, PortableRun,
    PortableVerdict, read_portable, write_portable,
};
pub use table::{TableLayout, read_tables};
pub use unit::ValueUnit;
