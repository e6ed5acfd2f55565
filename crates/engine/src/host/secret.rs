//! The file with this user's secret, which marks the executables that we may run again.
//!
//! It lies apart from every store, so that a store that comes from elsewhere cannot bring its own. Created in one step,
//! with its content, for its owner alone; refused where others own it or can read it. Never printed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::machine;
use perfcheck_analysis::model::Secret;

const KEY_BYTES: usize = 32;

/// Why there is no secret. Executables are then neither kept nor run; numbers are.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The system names no directory for it.
    #[error("the system names no directory for the secret of this user")]
    NoDirectory,
    /// The file system refused.
    #[error("cannot {action} the secret `{}`: {source}", path.display())]
    Io {
        /// The file or its directory.
        path: PathBuf,
        /// What was attempted, as a verb.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// Others could know or change it.
    #[error("the secret `{}` is not used: it {problem}", path.display())]
    Exposed {
        /// The file or its directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It is no key.
    #[error("the secret `{}` has {found} bytes, not {KEY_BYTES}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: usize,
    },
}

impl SecretError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::NoDirectory => "name a file with PERFCHECK_SECRET".into(),
            Self::Io { .. } => "check the path and its permissions, or name another file with PERFCHECK_SECRET".into(),
            Self::Exposed { path, .. } => format!(
                "others may know it: remove `{}` and a new one is made; executables that were kept with the old one are then no longer run",
                path.display()
            ),
            Self::Malformed { .. } => {
                "remove it and a new one is made; executables that were kept with the old one are then no longer run".into()
            }
        }
    }
}

/// Where the secret lies when nobody says otherwise: the directory for state of this user on this machine, which is
/// neither synchronised nor the directory of the store.
pub fn default_secret_path() -> Result<PathBuf, SecretError> {
    let directory = dirs::state_dir()
        .or_else(dirs::data_local_dir)
        .ok_or(SecretError::NoDirectory)?;
    Ok(directory.join("cargo-perfcheck").join("secret"))
}

/// The secret at `path`, made where there is none.
pub fn secret(path: &Path) -> Result<Secret, SecretError> {
    let key = if let Some(key) = read(path)? {
        key
    } else {
        create(path)?;
        read(path)?.ok_or_else(|| failed(path, "read", ErrorKind::NotFound.into()))?
    };
    Ok(Secret::new(key, machine::identity().unwrap_or_default()))
}

fn failed(path: &Path, action: &'static str, source: io::Error) -> SecretError {
    SecretError::Io {
        path: path.to_owned(),
        action,
        source,
    }
}

fn read(path: &Path) -> Result<Option<[u8; KEY_BYTES]>, SecretError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        // No symbolic link, and no waiting for the writer of a pipe.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, "open", error)),
    };
    refuse_exposed(path, &file)?;
    let mut bytes = Vec::new();
    // One more than wanted: a longer file is no key either.
    file.take(KEY_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(path, "read", error))?;
    bytes
        .try_into()
        .map(Some)
        .map_err(|bytes: Vec<u8>| SecretError::Malformed {
            path: path.to_owned(),
            found: bytes.len(),
        })
}

/// Looks at the open file, which nobody can exchange any more, and at its directory.
#[cfg(unix)]
fn refuse_exposed(path: &Path, file: &File) -> Result<(), SecretError> {
    use std::os::unix::fs::MetadataExt;
    const SUPERUSER: u32 = 0;
    const STICKY: u32 = 0o1000;
    let user = rustix::process::geteuid().as_raw();
    let exposed = |path: &Path, problem| {
        Err(SecretError::Exposed {
            path: path.to_owned(),
            problem,
        })
    };
    let metadata = file
        .metadata()
        .map_err(|error| failed(path, "look at", error))?;
    if !metadata.is_file() {
        return exposed(path, "is not a regular file");
    }
    if metadata.uid() != user {
        return exposed(path, "belongs to another user");
    }
    if metadata.mode() & 0o077 != 0 {
        return exposed(path, "can be read or written by others");
    }
    let parent = directory_of(path);
    let metadata = fs::metadata(parent).map_err(|error| failed(parent, "look at", error))?;
    if ![user, SUPERUSER].contains(&metadata.uid()) {
        return exposed(parent, "lies in a directory of another user");
    }
    if metadata.mode() & 0o022 != 0 && metadata.mode() & STICKY == 0 {
        return exposed(parent, "lies in a directory that others can write");
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &File) -> Result<(), SecretError> {
    // The directories of a user's profile are private by default; the store itself is refused on such systems.
    Ok(())
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new secret, and a number for the name of its file.
fn draw() -> Result<([u8; KEY_BYTES], u64), getrandom::Error> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key)?;
    Ok((key, getrandom::u64()?))
}

/// Makes a secret, unless another process makes one at the same time: then that one counts.
fn create(path: &Path) -> Result<(), SecretError> {
    let directory = directory_of(path);
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    builder
        .create(directory)
        .map_err(|error| failed(directory, "create the directory of", error))?;
    let (key, number) = draw().map_err(|error| failed(path, "draw", error.into()))?;
    let unfinished = directory.join(format!("secret-{number:016x}"));
    let made = options
        .open(&unfinished)
        .and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()
        })
        // The name appears with the whole content, and never replaces another file.
        .and_then(|()| fs::hard_link(&unfinished, path));
    let _ = fs::remove_file(&unfinished);
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(failed(path, "create", error))
        }
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = directory.path().join("state/cargo-perfcheck/secret");
        (directory, path)
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("sets");
    }

    #[test]
    fn a_secret_is_made_once_for_its_owner_alone() {
        let (_directory, path) = place();
        let made = secret(&path).expect("made");
        let again = secret(&path).expect("read");
        assert_eq!(made.key(), again.key());
        assert_eq!(made.machine(), again.machine());
        assert_ne!(made.key(), &[0; KEY_BYTES]);
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        let parent = path.parent().expect("parent");
        assert_eq!((mode(&path), mode(parent)), (0o600, 0o700));
        // Nothing else is left.
        assert_eq!(fs::read_dir(parent).expect("lists").count(), 1);
        let (_directory, other) = place();
        assert_ne!(secret(&other).expect("made").key(), made.key());
    }

    #[test]
    fn threads_that_make_it_at_once_agree() {
        for _ in 0..20 {
            let (_directory, path) = place();
            let keys: Vec<[u8; KEY_BYTES]> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| scope.spawn(|| *secret(&path).expect("made").key()))
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().expect("ends"))
                    .collect()
            });
            assert!(keys.iter().all(|key| *key == keys[0]));
        }
    }

    #[test]
    fn a_secret_that_others_can_read_or_exchange_is_refused() {
        let (_directory, path) = place();
        secret(&path).expect("made");
        for mode in [0o640, 0o604, 0o622] {
            set_mode(&path, mode);
            let refused = secret(&path).expect_err("refused");
            assert!(matches!(refused, SecretError::Exposed { .. }), "{refused}");
            assert!(!refused.hint().is_empty());
        }
        set_mode(&path, 0o600);
        let parent = path.parent().expect("parent");
        set_mode(parent, 0o770);
        let refused = secret(&path).expect_err("refused");
        assert!(
            matches!(&refused, SecretError::Exposed { path, .. } if path == parent),
            "{refused}"
        );
        set_mode(parent, 0o755);
        secret(&path).expect("readable directories do no harm");
    }

    /// Needs the right to give files away.
    #[test]
    fn a_secret_of_another_user_is_refused() {
        const NOBODY: u32 = 65_534;
        let (_directory, path) = place();
        secret(&path).expect("made");
        if std::os::unix::fs::chown(&path, Some(NOBODY), None).is_ok() {
            let refused = secret(&path).expect_err("refused");
            assert!(refused.to_string().contains("another user"), "{refused}");
        }
    }

    #[test]
    fn a_file_that_is_no_key_is_refused_and_stays() {
        let (_directory, path) = place();
        secret(&path).expect("made");
        for length in [0, 31, 33, 4096] {
            fs::write(&path, vec![1; length]).expect("writes");
            let refused = secret(&path).expect_err("refused");
            let told = length.min(KEY_BYTES + 1);
            assert!(
                matches!(refused, SecretError::Malformed { found, .. } if found == told),
                "{refused}"
            );
            assert_eq!(fs::metadata(&path).expect("there").len(), length as u64);
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let (directory, path) = place();
        let (_other, target) = place();
        secret(&target).expect("made");
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&target, &link).expect("links");
        let refused = secret(&link).expect_err("refused");
        assert!(matches!(refused, SecretError::Io { .. }), "{refused}");
        assert!(!path.exists());
    }
}
