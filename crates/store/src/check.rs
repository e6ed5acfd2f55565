//! Checks the whole store, for tests and for users who suspect their disk.

use super::encoding::{read_allocations, read_latencies};
use super::error::Fault;
use super::{Store, StoreError, encoding};

impl Store {
    /// Checks that every series can be read. If the store is a file, also checks the structure of the file and the references between tables. Opening
    /// a store does not do this, because the check takes as long as reading the whole file.
    pub fn check(&self) -> Result<(), StoreError> {
        self.read(|sql| {
            if sql.is_file() {
                let finding: String =
                    sql.one("PRAGMA integrity_check(1)", &[], |row| row.get(0))?;
                if finding != "ok" {
                    return Err(Fault::Content(finding));
                }
                if sql.exists("PRAGMA foreign_key_check", &[])? {
                    return Err(Fault::Content(
                        "a row refers to a row that does not exist".into(),
                    ));
                }
            }
            let series =
                "SELECT run_benchmark, process, samples, allocations, latencies FROM series";
            sql.each(series, &[], |row| {
                let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
                let (allocations, latencies) = (row.get_ref(3)?, row.get_ref(4)?);
                let whole = encoding::decode(bytes)
                    .and_then(|_| read_allocations(allocations))
                    .and_then(|_| read_latencies(latencies));
                if let Err(detail) = whole {
                    let (benchmark, process): (i64, i64) = (row.get(0)?, row.get(1)?);
                    return Err(Fault::Content(format!(
                        "series (benchmark row {benchmark}, process {process}): {detail}"
                    )));
                }
                Ok(())
            })
        })
    }
}
