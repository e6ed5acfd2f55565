//! Where the store lies when nobody says otherwise.

use std::path::PathBuf;

use super::StoreError;

/// `cargo-perfcheck/perfcheck.db` in the user's data directory: `cargo clean` must not erase baselines.
pub fn default_path() -> Result<PathBuf, StoreError> {
    let directory = dirs::data_dir().ok_or(StoreError::NoDataDirectory)?;
    Ok(directory.join("cargo-perfcheck").join("perfcheck.db"))
}
