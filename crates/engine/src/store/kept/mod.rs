//! Kept executables: what a run was measured with, so that it can be measured again.
//!
//! Owns the directory beside the database that holds their contents, by hash, and the records that say how each is
//! started. Invariant: nothing is handed out to be run unless this user recorded it on this machine in this store
//! (keyed MAC), nobody else can write to the store, and the bytes that were written out are those that were recorded.
//! Must not start anything, and must not read the secret itself.

mod contents;
mod error;
mod extract;
mod facts;
mod privacy;
mod record;
mod removal;
mod seal;

pub use error::KeptError;
pub use extract::ExtractedTarget;
pub use facts::{KeptContent, KeptFacts, LibraryFact};
pub use record::{KeptRecord, KeptSummary};
pub use removal::{DEFAULT_QUOTA_BYTES, Reason, Removal, RemovalPlan, RemovalSummary};
