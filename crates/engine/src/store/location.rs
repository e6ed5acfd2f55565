//! The location of the store.

use std::path::{Path, PathBuf};

use super::StoreError;

/// Returns the default path, `cargo-perfcheck/perfcheck.db` in the user's data directory. It is not in the target
/// directory, because `cargo clean` must not delete baselines.
pub fn default_path() -> Result<PathBuf, StoreError> {
    let directory = dirs::data_dir().ok_or(StoreError::NoDataDirectory)?;
    Ok(directory.join("cargo-perfcheck").join("perfcheck.db"))
}

/// Reports whether the path is the address of a team's store rather than a file.
pub fn is_address(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"))
}

/// Returns the name of a store for messages and reports: the path of a file, or the address of a team's store without
/// its password.
pub fn public_location(path: &Path) -> PathBuf {
    let Some((scheme, rest)) = path.to_str().and_then(|text| text.split_once("://")) else {
        return path.to_owned();
    };
    if !is_address(path) {
        return path.to_owned();
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let tail = match tail.split_once('?') {
        Some((database, parameters)) => {
            let kept = parameters
                .split('&')
                .filter(|one| !one.starts_with("password="));
            let kept: Vec<&str> = kept.collect();
            let separator = if kept.is_empty() { "" } else { "?" };
            format!("{database}{separator}{}", kept.join("&"))
        }
        None => tail.to_owned(),
    };
    format!("{scheme}://{authority}{tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_location_that_is_shown_has_a_password() {
        for (given, shown) in [
            ("/a/b:c@d", "/a/b:c@d"),
            ("postgres://db/perf", "postgres://db/perf"),
            ("postgres://me@db:1/perf?a=b", "postgres://me@db:1/perf?a=b"),
            ("postgres://me:secret@db/perf", "postgres://me@db/perf"),
            ("postgres://me:sec@ret@db", "postgres://me@db"),
            (
                "postgresql://me@db/perf?password=secret",
                "postgresql://me@db/perf",
            ),
            (
                "postgres://me:secret@%2Ftmp/d?password=x&a=b",
                "postgres://me@%2Ftmp/d?a=b",
            ),
        ] {
            assert_eq!(public_location(Path::new(given)), Path::new(shown));
        }
    }
}
