//! Reads settings for PostgreSQL from the environment and the password file, as all programs for PostgreSQL do.
//!
//! The names and rules are those of PostgreSQL's own library (libpq, "Environment Variables" and "The Password
//! File").

#![expect(
    clippy::disallowed_methods,
    reason = "the only place that reads these variables"
)]

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// PostgreSQL's default port.
const USUAL_PORT: u16 = 5432;
/// Default directories of the server's sockets, as compiled by PostgreSQL and by Debian.
const USUAL_SOCKETS: [&str; 2] = ["/tmp", "/var/run/postgresql"];

/// Environment variables for PostgreSQL.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerVariables {
    /// `PGHOST`
    pub(super) host: Option<String>,
    /// `PGPORT`
    pub(super) port: Option<String>,
    /// `PGUSER`
    pub(super) user: Option<String>,
    /// Login name, the default of the database user.
    pub(super) login: Option<String>,
    /// `PGPASSWORD`
    pub(super) password: Option<String>,
    /// `PGPASSFILE`, or `.pgpass` in the home directory.
    pub(super) password_file: Option<PathBuf>,
    /// `PGDATABASE`
    pub(super) database: Option<String>,
    /// `PGCONNECT_TIMEOUT`, in seconds
    pub(super) connect_timeout: Option<String>,
    /// `PGSSLMODE`
    pub(super) ssl_mode: Option<String>,
    /// `PGSSLROOTCERT`
    pub(super) ssl_roots: Option<PathBuf>,
}

impl ServerVariables {
    /// Reads the variables.
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
pub(super) fn fill_in(config: &mut Config, variables: &ServerVariables) -> Result<(), String> {
    // If the address names a host, its port is that of the address or the default, not that of the environment.
    if config.get_hosts().is_empty() {
        if let Some(host) = &variables.host {
            config.host(host);
        }
        if let Some(port) = &variables.port {
            let number = port.parse();
            config.port(number.map_err(|_| format!("`PGPORT={port}` is no port"))?);
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
        let number =
            number.map_err(|_| format!("`PGCONNECT_TIMEOUT={seconds}` is no number of seconds"))?;
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
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) if USUAL_SOCKETS.iter().any(|usual| path == Path::new(usual)) => {
            "localhost".to_owned()
        }
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(USUAL_PORT);
    let user = config.get_user().or(variables.login.as_deref());
    let user = user.unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    [host, port.to_string(), database.to_owned(), user.to_owned()]
}

/// Reads a file if only its owner can access it.
fn private_text(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let permissions = std::fs::metadata(path).ok()?.permissions();
        if permissions.mode() & 0o077 != 0 {
            return None;
        }
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
    use std::os::unix::fs::PermissionsExt;
    use std::str::FromStr;

    use super::*;

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
        let said = "postgres://me:mine@other:1/own?connect_timeout=2";
        assert_eq!(
            filled(said, &variables()),
            Config::from_str(said).expect("well formed")
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

    #[test]
    fn the_first_line_of_the_password_file_that_fits_counts_if_nobody_else_can_read_it() {
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
