//! A proxy between a client and the server's socket, which counts round trips.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::Failure;

const SOCKET: &str = ".s.PGSQL.5432";

/// Forwards data between one client and the server.
pub(crate) struct Proxy {
    directory: TempDir,
    /// How often the client sent data after the server had sent some, which is the number of round trips.
    turns: Arc<AtomicUsize>,
}

impl Proxy {
    /// Creates a proxy for the server whose socket is in this directory.
    pub(crate) fn before(server: &Path) -> Result<Self, Failure> {
        let directory = tempfile::tempdir()?;
        let listener = UnixListener::bind(directory.path().join(SOCKET))?;
        let turns = Arc::new(AtomicUsize::new(0));
        let (counted, server) = (Arc::clone(&turns), server.join(SOCKET));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = UnixStream::connect(&server) {
                    pass_on(&client, &server, &counted);
                }
            }
        });
        Ok(Self { directory, turns })
    }

    /// Returns the address of the same database through the proxy.
    pub(crate) fn address(&self, address: &str) -> String {
        let here: PathBuf = self.directory.path().to_owned();
        let database = address.rsplit('/').next().unwrap_or_default();
        let socket = here.display().to_string().replace('/', "%2F");
        format!("postgres://team@{socket}/{database}")
    }

    pub(crate) fn round_trips(&self) -> usize {
        self.turns.load(Ordering::SeqCst)
    }
}

fn pass_on(client: &UnixStream, server: &UnixStream, turns: &Arc<AtomicUsize>) {
    let answered = Arc::new(AtomicBool::new(true));
    let (Ok(from_client), Ok(to_client)) = (client.try_clone(), client.try_clone()) else {
        return;
    };
    let (Ok(from_server), Ok(to_server)) = (server.try_clone(), server.try_clone()) else {
        return;
    };
    let (asked, turns) = (Arc::clone(&answered), Arc::clone(turns));
    std::thread::spawn(move || {
        copy(from_client, to_server, || {
            if asked.swap(false, Ordering::SeqCst) {
                turns.fetch_add(1, Ordering::SeqCst);
            }
        });
    });
    std::thread::spawn(move || {
        copy(from_server, to_client, || {
            answered.store(true, Ordering::SeqCst);
        });
    });
}

fn copy(mut from: UnixStream, mut to: UnixStream, mut noted: impl FnMut()) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        noted();
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
