//! Where the store lies when nobody says otherwise.

use std::path::{Path, PathBuf};

use super::StoreError;

/// `cargo-perfcheck/perfcheck.db` in the user's data directory: `cargo clean` must not erase baselines.
pub fn default_path() -> Result<PathBuf, StoreError> {
    let directory = dirs::data_dir().ok_or(StoreError::NoDataDirectory)?;
    Ok(directory.join("cargo-perfcheck").join("perfcheck.db"))
}

/// Whether this names a team's store, by its address, and no file.
pub fn is_address(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"))
}
