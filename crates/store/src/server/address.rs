//! Parses the address of a team's store, adds settings from the environment and the password file, and decides about encryption.
//!
//! Invariant: connections to other machines are encrypted, and the server's certificate is verified, unless the address has `sslmode=disable`, or has
//! no `sslmode` and `PGSSLMODE` is `disable`. `tokio-postgres` has no verifying modes, so `sslmode` and `sslrootcert` are handled here.

#![expect(
    clippy::disallowed_methods,
    reason = "the only place that reads these variables"
)]

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::env;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;

/// The address of a team's store.
pub(super) struct TeamAddress {
    pub(super) config: Config,
    /// Encryption of the connection; `None` for an unencrypted one.
    pub(super) encryption: Option<MakeRustlsConnect>,
}

impl TeamAddress {
    /// Parses `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`. Missing parts are read from the environment.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        Self::parse_with(text, &ServerVariables::read())
    }

    fn parse_with(text: &str, variables: &ServerVariables) -> Result<Self, StoreError> {
        let (plain, own) = split_encryption_parameters(text);
        let mut config =
            Config::from_str(&plain).map_err(|error| bad_address(error.to_string()))?;
        fill_in(&mut config, variables).map_err(bad_address)?;
        if config.get_hosts().is_empty() {
            return Err(bad_address(
                "it names no host, and PGHOST is not set".into(),
            ));
        }
        // `allow` and `prefer` in the environment are ignored, because the default below is stricter.
        let is_lenient = |mode: &String| ["allow", "prefer"].contains(&mode.as_str());
        let mode = variables.ssl_mode.clone().filter(|mode| !is_lenient(mode));
        let has_own_roots = own.roots.is_some();
        let parameters = EncryptionParameters {
            mode: own.mode.or(mode),
            roots: own.roots.or_else(|| variables.ssl_roots.clone()),
        };
        let is_encrypted = match parameters.mode.as_deref() {
            Some("disable") => false,
            // A socket of the file system cannot be intercepted.
            Some("require" | "verify-ca" | "verify-full") if is_socket(&config) => false,
            // Every mode that requires encryption also verifies the server, because encryption does not protect against an impostor of the server.
            Some("require" | "verify-ca" | "verify-full") => true,
            None => has_own_roots || !is_local(&config),
            Some(other) => {
                return Err(bad_address(format!(
                    "`sslmode={other}` is not supported; use `verify-full` or `disable`"
                )));
            }
        };
        config.ssl_mode(if is_encrypted {
            SslMode::Require
        } else {
            SslMode::Disable
        });
        let encryption = is_encrypted.then(|| encryption(parameters.roots.as_deref()));
        Ok(Self {
            config,
            encryption: encryption.transpose()?,
        })
    }
}

fn bad_address(detail: String) -> StoreError {
    StoreError::BadAddress(detail)
}

/// The parameters of an address about encryption.
#[derive(Debug, Default, PartialEq)]
struct EncryptionParameters {
    mode: Option<String>,
    roots: Option<PathBuf>,
}

/// Splits the parameters about encryption from the address.
fn split_encryption_parameters(text: &str) -> (String, EncryptionParameters) {
    let mut requested = EncryptionParameters::default();
    let Some((before, parameters)) = text.split_once('?') else {
        return (text.to_owned(), requested);
    };
    let mut others = Vec::new();
    for parameter in parameters.split('&') {
        let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
        match parameter.split_once('=') {
            Some(("sslmode", mode)) => requested.mode = Some(decoded(mode)),
            Some(("sslrootcert", path)) => requested.roots = Some(decoded(path).into()),
            _ => others.push(parameter),
        }
    }
    let separator = if others.is_empty() { "" } else { "?" };
    (
        format!("{before}{separator}{}", others.join("&")),
        requested,
    )
}

/// Returns the name of the machine that a host stands for. If the host is a socket of the file system, returns its directory as an error.
/// `tokio-postgres` has such hosts only on Unix.
pub(super) fn machine_or_socket(host: &Host) -> Result<&str, &Path> {
    match host {
        Host::Tcp(name) => Ok(name),
        #[cfg(unix)]
        Host::Unix(path) => Err(path),
    }
}

/// Reports whether all hosts are sockets of the file system.
fn is_socket(config: &Config) -> bool {
    let mut hosts = config.get_hosts().iter();
    hosts.all(|host| machine_or_socket(host).is_err())
}

/// Reports whether all hosts are on this machine.
fn is_local(config: &Config) -> bool {
    let is_here = |name: &str| {
        name == "localhost"
            || name
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    };
    let mut hosts = config.get_hosts().iter();
    hosts.all(|host| machine_or_socket(host).map_or(true, is_here))
}

/// Creates the encryption. The server's certificate must be signed by a certificate in `roots`, or by an authority that this system trusts.
fn encryption(roots: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let Some(path) = roots else {
        let (connector, _) = MakeRustlsConnect::with_native_certs().map_err(|_| {
            bad_address(
                "this system trusts no certificate authority; name a certificate with `sslrootcert=PATH`".into(),
            )
        })?;
        return Ok(connector);
    };
    let unreadable =
        |detail: String| bad_address(format!("`sslrootcert={}`: {detail}", path.display()));
    let found =
        CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
    let mut trusted = RootCertStore::empty();
    for certificate in found {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        let added = trusted.add(certificate);
        added.map_err(|error| unreadable(error.to_string()))?;
    }
    if trusted.is_empty() {
        return Err(unreadable("the file contains no certificate".into()));
    }
    let config = ClientConfig::builder().with_root_certificates(trusted);
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// PostgreSQL's default port.
const USUAL_PORT: u16 = 5432;
/// Default directories of the server's sockets, as compiled by PostgreSQL and by Debian.
const USUAL_SOCKETS: [&str; 2] = ["/tmp", "/var/run/postgresql"];

/// Environment variables for PostgreSQL.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerVariables {
    /// `PGHOST`.
    pub(super) host: Option<String>,
    /// `PGPORT`.
    pub(super) port: Option<String>,
    /// `PGUSER`.
    pub(super) user: Option<String>,
    /// `USER`: the login name, which is the default of the database user.
    pub(super) login: Option<String>,
    /// `PGPASSWORD`.
    pub(super) password: Option<String>,
    /// `PGPASSFILE`, or `.pgpass` in the home directory.
    pub(super) password_file: Option<PathBuf>,
    /// `PGDATABASE`.
    pub(super) database: Option<String>,
    /// `PGCONNECT_TIMEOUT`, in seconds.
    pub(super) connect_timeout: Option<String>,
    /// `PGSSLMODE`.
    pub(super) ssl_mode: Option<String>,
    /// `PGSSLROOTCERT`.
    pub(super) ssl_roots: Option<PathBuf>,
}

impl ServerVariables {
    /// Reads the environment. An empty variable counts as not set.
    pub(super) fn read() -> Self {
        let text = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let home = || Some(dirs::home_dir()?.join(".pgpass"));
        Self {
            host: text("PGHOST"),
            port: text("PGPORT"),
            user: text("PGUSER"),
            login: text("USER"),
            password: text("PGPASSWORD"),
            password_file: text("PGPASSFILE").map(PathBuf::from).or_else(home),
            database: text("PGDATABASE"),
            connect_timeout: text("PGCONNECT_TIMEOUT"),
            ssl_mode: text("PGSSLMODE"),
            ssl_roots: text("PGSSLROOTCERT").map(PathBuf::from),
        }
    }
}

/// Fills in missing parts of `config`: host, port, user, database, time limit and password. Returns a message if a
/// variable is invalid.
///
/// The names and rules are those of PostgreSQL's own library (libpq, "Environment Variables" and "The Password File").
pub(super) fn fill_in(config: &mut Config, variables: &ServerVariables) -> Result<(), String> {
    // If the address names a host but no port, the default port applies, not the port in the environment.
    if config.get_hosts().is_empty() {
        if let Some(host) = &variables.host {
            config.host(host);
        }
        if let Some(port) = &variables.port {
            let number = port.parse();
            config.port(number.map_err(|_| format!("`PGPORT={port}` is not a port number"))?);
        }
    }
    if let (None, Some(user)) = (config.get_user(), &variables.user) {
        config.user(user);
    }
    if let (None, Some(database)) = (config.get_dbname(), &variables.database) {
        config.dbname(database);
    }
    if let (None, Some(seconds)) = (config.get_connect_timeout(), &variables.connect_timeout) {
        let number: Result<i64, _> = seconds.parse();
        let number = number
            .map_err(|_| format!("`PGCONNECT_TIMEOUT={seconds}` is not a number of seconds"))?;
        // Zero means that the user wants no limit.
        if let Some(seconds) = u64::try_from(number).ok().filter(|seconds| *seconds > 0) {
            config.connect_timeout(Duration::from_secs(seconds));
        }
    }
    if config.get_password().is_none() {
        let found = variables.password.clone();
        let found = found.or_else(|| {
            let text = private_text(variables.password_file.as_deref()?)?;
            find_password(&text, &password_file_fields(config, variables))
        });
        if let Some(password) = found {
            config.password(password);
        }
    }
    Ok(())
}

/// Returns the fields that a line of the password file must match: host, port, database, user.
fn password_file_fields(config: &Config, variables: &ServerVariables) -> [String; 4] {
    let is_usual = |path: &Path| USUAL_SOCKETS.iter().any(|usual| path == Path::new(usual));
    let host = match config.get_hosts().first().map(machine_or_socket) {
        Some(Ok(name)) => name.to_owned(),
        Some(Err(path)) if !is_usual(path) => path.display().to_string(),
        Some(Err(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(USUAL_PORT);
    let user = config.get_user().or(variables.login.as_deref());
    let user = user.unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    [host, port.to_string(), database.to_owned(), user.to_owned()]
}

/// Reads a file if only its owner can access it.
fn private_text(path: &Path) -> Option<String> {
    if perfcheck_host::os::is_open_to_others(path).ok()? {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

/// Returns the password of the first matching line `host:port:database:user:password`. `*` matches everything, and
/// `\` escapes the next character.
fn find_password(text: &str, wanted: &[String; 4]) -> Option<String> {
    text.lines().find_map(|line| {
        if line.starts_with('#') {
            return None;
        }
        let mut rest = line;
        for wanted in wanted {
            let (field, is_quoted, after) = split_field(rest)?;
            if field != *wanted && (field != "*" || is_quoted) {
                return None;
            }
            rest = after;
        }
        Some(unescape(rest))
    })
}

/// Returns the text before the next colon, whether it has escapes, and the text after the colon.
fn split_field(text: &str) -> Option<(String, bool, &str)> {
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if quoted => quoted = false,
            '\\' => quoted = true,
            ':' => {
                let raw = &text[..at];
                return Some((unescape(raw), raw.contains('\\'), &text[at + 1..]));
            }
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut characters = text.chars();
    let mut plain = String::new();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.extend(characters.next()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn the_way_to_another_machine_is_encrypted_unless_the_address_says_otherwise() {
        for (text, expected) in [
            ("postgres://a@localhost/d", false),
            ("postgres://a@127.0.0.1:6000/d", false),
            ("postgres://a@%2Ftmp/d", false),
            ("postgres://a@localhost/d?sslmode=require", true),
            ("postgres://a@db.example/d", true),
            (
                "postgres://a@db.example/d?sslmode=verify-full&connect_timeout=3",
                true,
            ),
            (
                "postgres://a@db.example/d?connect_timeout=3&sslmode=disable",
                false,
            ),
        ] {
            let address = TeamAddress::parse_with(text, &ServerVariables::default());
            // If the system trusts no authority, an encrypted connection must fail rather than fall back to an
            // unencrypted one.
            match address {
                Ok(address) => assert_eq!(address.encryption.is_some(), expected, "{text}"),
                Err(error) => assert!(
                    expected && error.to_string().contains("trusts no"),
                    "{error}"
                ),
            }
        }
        for text in [
            "postgres://a@db.example/d?sslmode=prefer",
            "postgres://a@db.example/d?sslrootcert=/nowhere",
            "postgres://a@db.example:x/d",
        ] {
            assert!(
                matches!(
                    TeamAddress::parse_with(text, &ServerVariables::default()),
                    Err(StoreError::BadAddress(_))
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn the_environment_says_how_to_encrypt_where_the_address_does_not() {
        let with = |mode: &str, address: &str| {
            let variables = ServerVariables {
                ssl_mode: Some(mode.into()),
                ..ServerVariables::default()
            };
            TeamAddress::parse_with(address, &variables).map(|found| found.encryption.is_some())
        };
        let far = "postgres://a@db.example/d";
        assert!(matches!(with("disable", far), Ok(false)));
        assert!(matches!(
            with("prefer", "postgres://a@localhost/d"),
            Ok(false)
        ));
        assert!(!matches!(with("prefer", far), Ok(false)));
        assert!(!matches!(
            with("verify-full", "postgres://a@localhost/d"),
            Ok(false)
        ));
        assert!(matches!(
            with("verify-full", "postgres://a@localhost/d?sslmode=disable"),
            Ok(false)
        ));
        assert!(matches!(
            with("nonsense", far),
            Err(StoreError::BadAddress(_))
        ));
    }

    #[test]
    fn parameters_on_encryption_are_taken_out_and_the_others_stay() {
        assert_eq!(
            split_encryption_parameters("postgres://h/d?a=1&sslrootcert=%2Fa%20b&c=2"),
            (
                "postgres://h/d?a=1&c=2".to_owned(),
                EncryptionParameters {
                    mode: None,
                    roots: Some("/a b".into())
                }
            )
        );
    }

    fn variables() -> ServerVariables {
        let text = |text: &str| Some(text.to_owned());
        ServerVariables {
            host: text("db.example"),
            port: text("6000"),
            user: text("ci"),
            database: text("perf"),
            password: text("secret"),
            connect_timeout: text("7"),
            ..ServerVariables::default()
        }
    }

    fn filled(address: &str, variables: &ServerVariables) -> Config {
        let mut config = Config::from_str(address).expect("well formed");
        fill_in(&mut config, variables).expect("well formed");
        config
    }

    #[test]
    fn variables_say_what_the_address_does_not() {
        let config = filled("postgres://", &variables());
        assert_eq!(config.get_hosts(), [Host::Tcp("db.example".into())]);
        assert_eq!(config.get_ports(), [6000]);
        assert_eq!(config.get_user(), Some("ci"));
        assert_eq!(config.get_dbname(), Some("perf"));
        assert_eq!(config.get_password(), Some(&b"secret"[..]));
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        let address = "postgres://me:mine@other:1/own?connect_timeout=2";
        assert_eq!(
            filled(address, &variables()),
            Config::from_str(address).expect("well formed")
        );
        for (name, wrong) in [
            (
                "PGPORT",
                ServerVariables {
                    port: Some("x".into()),
                    ..ServerVariables::default()
                },
            ),
            (
                "PGCONNECT_TIMEOUT",
                ServerVariables {
                    connect_timeout: Some("x".into()),
                    ..ServerVariables::default()
                },
            ),
        ] {
            let mut config = Config::from_str("postgres://").expect("well formed");
            let error = fill_in(&mut config, &wrong).expect_err("refused");
            assert!(error.contains(name), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_first_line_of_the_password_file_that_fits_counts_if_nobody_else_can_read_it() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("pgpass");
        let text =
            "# db:1:perf:ci:none\ndb:1:perf:other:others\ndb:1:perf:ci:a\\:b\\\\c\n*:*:*:*:any\n";
        std::fs::write(&path, text).expect("written");
        let password = |address: &str| {
            let variables = ServerVariables {
                password_file: Some(path.clone()),
                login: Some("me".into()),
                ..ServerVariables::default()
            };
            let config = filled(address, &variables);
            config
                .get_password()
                .map(|password| String::from_utf8_lossy(password).into_owned())
        };
        let mode = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).expect("sets");
        };
        mode(0o600);
        assert_eq!(
            password("postgres://ci@db:1/perf").as_deref(),
            Some("a:b\\c")
        );
        assert_eq!(password("postgres://%2Ftmp").as_deref(), Some("any"));
        assert_eq!(
            password("postgres://ci:own@db:1/perf").as_deref(),
            Some("own")
        );
        std::fs::write(&path, "localhost:5432:me:me:mine\n").expect("written");
        assert_eq!(password("postgres://%2Ftmp").as_deref(), Some("mine"));
        assert_eq!(password("postgres://elsewhere"), None);
        std::fs::write(&path, "/srv/pg:5432:me:me:there\n").expect("written");
        assert_eq!(password("postgres://%2Fsrv%2Fpg").as_deref(), Some("there"));
        assert_eq!(password("postgres://%2Ftmp"), None);
        std::fs::write(&path, "*:*:*:*:any\n").expect("written");
        mode(0o640);
        assert_eq!(password("postgres://%2Ftmp"), None);
    }
}
