//! A real PostgreSQL server for tests. It has a socket in its own directory and ends with the process that started it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use perfcheck_store::{ExistingStore, Store};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

/// The password in the addresses of all databases. No output of the tool may contain it.
pub const PASSWORD: &str = "a-secret";
/// Maximum number of attempts to start a server that ends at once.
const STARTS: u32 = 100;
/// Prefix of the names of servers' directories.
const PREFIX: &str = "perfcheck-postgres-";

/// A PostgreSQL server with its own directory. Dropping this value kills the server.
pub struct Server {
    directory: TempDir,
    /// Additional settings for the command line of the server.
    arguments: Vec<String>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Server {
    /// Starts a server. Returns `None` if PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let server = Self::prepared()?;
        server.run();
        Some(server)
    }

    /// Starts a server with encryption on this port of `localhost`. Its certificate is signed by `ca.crt` in its directory.
    pub fn start_encrypted(port: u16) -> Option<Self> {
        let mut server = Self::prepared()?;
        let data = server.data();
        let openssl = |words: &str| {
            let done = as_user(Path::new("openssl"))
                .args(words.split(' '))
                .current_dir(&data)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(done.expect("runs openssl").success(), "{words}");
        };
        std::fs::write(data.join("names"), "subjectAltName=DNS:localhost").expect("written");
        openssl(
            "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority -days 2",
        );
        openssl(
            "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt -subj /CN=stranger -days 2",
        );
        openssl(
            "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost",
        );
        openssl(
            "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 2 -extfile names",
        );
        let ssl = |name: &str| data.join(name).display().to_string();
        server.arguments = vec![
            "listen_addresses=localhost".into(),
            format!("port={port}"),
            "ssl=on".into(),
            format!("ssl_cert_file={}", ssl("server.crt")),
            format!("ssl_key_file={}", ssl("server.key")),
        ];
        server.run();
        Some(server)
    }

    /// Creates a server without starting it.
    fn prepared() -> Option<Self> {
        let programs = programs()?;
        remove_abandoned();
        let mut directory = tempfile::Builder::new();
        let directory = directory.prefix(PREFIX).tempdir();
        let directory = directory.expect("temporary directory");
        let server = Self {
            directory,
            arguments: Vec::new(),
        };
        let data = server.data();
        open_to_all(server.directory.path());
        std::fs::create_dir(&data).expect("creates");
        open_to_all(&data);
        let made = as_user(&programs.join("initdb"))
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=team",
                "-E",
                "UTF8",
                "--locale=C",
                "-D",
            ])
            .arg(data.join("cluster"))
            .stdout(Stdio::null())
            .status()
            .expect("runs initdb");
        assert!(made.success(), "initdb: {made}");
        Some(server)
    }

    /// Returns the directory with the server's files and its socket.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Returns the address of a database.
    pub fn address(&self, database: &str) -> String {
        let socket = self.data().display().to_string().replace('/', "%2F");
        format!("postgres://team:{PASSWORD}@{socket}/{database}")
    }

    /// Starts the server in a thread that lives as long as the server, because the server ends with the thread that started it.
    pub fn run(&self) {
        let data = self.data();
        let program = programs()
            .expect("PostgreSQL is installed")
            .join("postgres");
        let arguments = self.arguments.clone();
        std::thread::spawn(move || {
            for _ in 0..STARTS {
                let mut server = as_user(&program)
                    .arg("-D")
                    .arg(data.join("cluster"))
                    .arg("-k")
                    .arg(&data)
                    .args(["-c", "listen_addresses=", "-c", "max_connections=200"])
                    .args(arguments.iter().flat_map(|argument| ["-c", argument]))
                    .stdout(Stdio::null())
                    .stderr(std::fs::File::create(data.join("log")).expect("creates"))
                    .spawn()
                    .expect("runs postgres");
                let ended = server.wait();
                // A server refuses to start (status 1) while children of a killed one still run. Then try again.
                if ended.map_or(true, |status| status.code() != Some(1)) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        self.wait_until_it_answers();
    }

    /// Pauses the server, so that it answers no client.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Resumes the server.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let process = self.process().expect("it runs");
        kill_process(process, signal).expect("signals");
    }

    fn process(&self) -> Option<Pid> {
        let text = std::fs::read_to_string(self.data().join("cluster/postmaster.pid")).ok()?;
        Pid::from_raw(text.lines().next()?.parse().ok()?)
    }

    /// Kills the server, as a loss of power would. It can be started again.
    pub fn kill(&self) {
        let Some(process) = self.process() else {
            return;
        };
        let _ = kill_process(process, Signal::KILL);
        while test_kill_process(process).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        // The server's child processes end by themselves. `run` tries again until they have ended.
        let _ = std::fs::remove_file(self.data().join("cluster/postmaster.pid"));
    }

    fn wait_until_it_answers(&self) {
        for _ in 0..600 {
            if self.sql("postgres", "SELECT 1").is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("PostgreSQL does not answer");
    }

    /// Creates a database with an empty store and returns its address.
    pub fn fresh_database(&self) -> String {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("store_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"))
            .expect("makes a database");
        let address = self.address(&name);
        let found = Store::create_in(&address, false).expect("makes a store");
        assert_eq!(found, ExistingStore::None);
        address
    }

    fn port(&self) -> &str {
        let port = self
            .arguments
            .iter()
            .find_map(|it| it.strip_prefix("port="));
        port.unwrap_or("5432")
    }

    /// Returns the output of `psql` for a statement, or `None` if the statement fails.
    pub fn sql(&self, database: &str, statement: &str) -> Option<String> {
        let output = Command::new("psql")
            .args([
                "-X",
                "-A",
                "-t",
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "team",
                "-h",
            ])
            .arg(self.data())
            .args(["-p", self.port()])
            .args(["-d", database, "-c", statement])
            .stderr(Stdio::null())
            .output()
            .expect("runs psql");
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    }
}

/// Removes directories of servers from earlier test processes. Test processes do not remove the server that their tests share.
fn remove_abandoned() {
    let entries = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten();
    for entry in entries.filter_map(Result::ok) {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let lock = entry.path().join("data/cluster/postmaster.pid");
        // A server without this file is still being created.
        let Some(id) = std::fs::read_to_string(lock).ok().filter(|_| is_ours) else {
            continue;
        };
        // While `initdb` runs, the number in the file is negative.
        let process = id.lines().next().and_then(|line| line.parse::<i32>().ok());
        let process = process.map(i32::abs);
        let is_running = process
            .and_then(Pid::from_raw)
            .is_some_and(|process| test_kill_process(process).is_ok());
        if !is_running {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Prepares a program that runs as the tests' own user, or as `nobody` if that is root: PostgreSQL refuses to run as root. The program ends with the
/// thread that starts it.
fn as_user(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "QUIT"]);
    if is_root() {
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    }
    command.arg(program).env("LC_ALL", "C");
    command
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

fn open_to_all(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let all = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(directory, all).expect("permits");
}

/// Returns the directory of PostgreSQL's programs: the newest version from Debian's packages, or the directory of `initdb` on the search path.
fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut versions: Vec<PathBuf> = installed
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|path| path.join("initdb").exists())
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).find(|path| path.join("initdb").exists());
    versions.pop().or(on_path)
}

/// Creates a database with an empty store on the server that all tests of this process share, and returns its address.
pub fn fresh_database() -> String {
    shared().expect("PostgreSQL is installed").fresh_database()
}

/// Returns the server that all tests of this process share, or `None` if PostgreSQL is not installed.
pub fn shared() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(Server::start).as_ref()
}
