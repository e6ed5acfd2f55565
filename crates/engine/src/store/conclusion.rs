//! Stores the conclusion of a run: opaque bytes, compressed and with a checksum.

use std::io::Read;

use rusqlite::params;

use super::codec::{seal_bytes, unseal_bytes};
use super::error::{Attempt, Fault};
use super::{Store, StoreError};
use perfcheck_analysis::model::RunId;

/// The default level of zstd, see docs/internals/src/store.md.
const LEVEL: i32 = 3;
/// Largest conclusion in bytes. 100,000 benchmarks with all their details take a fifth of it.
const MOST_BYTES: u64 = 1 << 30;

/// Compresses the bytes for the column.
pub(super) fn pack(bytes: &[u8]) -> Attempt<Vec<u8>> {
    let compressed =
        zstd::encode_all(bytes, LEVEL).map_err(|error| Fault::Content(error.to_string()))?;
    Ok(seal_bytes(&compressed))
}

/// Decompresses the column, or describes what is wrong with it.
fn unpack(column: &[u8]) -> Result<Vec<u8>, String> {
    let compressed = unseal_bytes(column, "a conclusion")?;
    let decoder = zstd::Decoder::new(compressed).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let mut bounded = decoder.take(MOST_BYTES + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("a conclusion is too large".to_owned());
    }
    Ok(bytes)
}

impl Store {
    /// Returns the conclusion of a run as it was recorded; `None` if none was.
    pub fn conclusion(&self, run: RunId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|sql| {
            let column: Option<Option<Vec<u8>>> = sql.first(
                "SELECT conclusion FROM runs WHERE id = ?1",
                params![run.0],
                |row| row.get(0),
            )?;
            let column = column.ok_or(StoreError::NoSuchRun(run))?;
            let bytes = column.map(|column| unpack(&column)).transpose();
            bytes.map_err(|detail| Fault::Content(format!("the conclusion of run {run}: {detail}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn bytes_come_back_and_damaged_ones_are_refused() {
        let bytes: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
        let Ok(column) = pack(&bytes) else {
            panic!("packed")
        };
        assert!(column.len() < bytes.len());
        assert_eq!(unpack(&column), Ok(bytes));
        for at in [0, 1, column.len() / 2, column.len() - 1] {
            let mut damaged = column.clone();
            damaged[at] ^= 1;
            assert!(unpack(&damaged).is_err(), "byte {at}");
        }
        assert!(unpack(&column[..7]).is_err());
    }

    /// Recomputes the checksum, so that the decoder behind it meets arbitrary bytes.
    #[test]
    fn a_damaged_conclusion_is_read_or_refused() {
        use perfcheck_analysis::findings::Conclusion;
        let whole: &[u8] = include_bytes!("corpus/conclusion.cbor");
        let rows = |bytes: &[u8]| Conclusion::from_bytes(bytes).map(|found| found.rows.len());
        assert_eq!(rows(whole), Ok(2));
        crate::mutations::attack("conclusions", &[whole.to_vec()], |bytes| {
            drop(rows(bytes));
        });
        let compressed = zstd::encode_all(whole, super::LEVEL).expect("compressed");
        crate::mutations::attack("compressed conclusions", &[compressed], |bytes| {
            drop(unpack(&crate::store::codec::seal_bytes(bytes)));
        });
    }
}
