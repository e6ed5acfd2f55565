//! Parses the address of a team's store, and decides about the encryption of the connection.
//!
//! Connections to other machines are encrypted, and the server's certificate is verified, unless the address has
//! `sslmode=disable`. `tokio-postgres` has no verifying modes, so `sslmode` and `sslrootcert` are handled here.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::surroundings::{ServerVariables, fill_in};
use crate::store::StoreError;

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
        let (plain, said) = split_encryption_parameters(text);
        let mut config =
            Config::from_str(&plain).map_err(|error| bad_address(error.to_string()))?;
        fill_in(&mut config, variables).map_err(bad_address)?;
        if config.get_hosts().is_empty() {
            return Err(bad_address(
                "it names no host, and neither does PGHOST".into(),
            ));
        }
        // Modes of the environment that do not require encryption are ignored in favor of the default here.
        let is_lenient = |mode: &String| ["allow", "prefer"].contains(&mode.as_str());
        let mode = variables.ssl_mode.clone().filter(|mode| !is_lenient(mode));
        let said_roots = said.roots.is_some();
        let asked = EncryptionParameters {
            mode: said.mode.or(mode),
            roots: said.roots.or_else(|| variables.ssl_roots.clone()),
        };
        let is_encrypted = match asked.mode.as_deref() {
            Some("disable") => false,
            // A socket of the file system cannot be intercepted.
            Some("require" | "verify-ca" | "verify-full") if is_socket(&config) => false,
            // Every mode that requires encryption also verifies the server, because encryption alone does not protect
            // against another server in its place.
            Some("require" | "verify-ca" | "verify-full") => true,
            None => said_roots || !is_local(&config),
            Some(other) => {
                return Err(bad_address(format!(
                    "`sslmode={other}` is neither `verify-full` nor `disable`"
                )));
            }
        };
        config.ssl_mode(if is_encrypted {
            SslMode::Require
        } else {
            SslMode::Disable
        });
        let encryption = is_encrypted.then(|| encryption(asked.roots.as_deref()));
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
    let mut asked = EncryptionParameters::default();
    let Some((before, parameters)) = text.split_once('?') else {
        return (text.to_owned(), asked);
    };
    let mut others = Vec::new();
    for parameter in parameters.split('&') {
        let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
        match parameter.split_once('=') {
            Some(("sslmode", mode)) => asked.mode = Some(decoded(mode)),
            Some(("sslrootcert", path)) => asked.roots = Some(decoded(path).into()),
            _ => others.push(parameter),
        }
    }
    let separator = if others.is_empty() { "" } else { "?" };
    (format!("{before}{separator}{}", others.join("&")), asked)
}

/// Reports whether all hosts are sockets of the file system.
fn is_socket(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(_) => false,
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

/// Reports whether all hosts are on this machine.
fn is_local(config: &Config) -> bool {
    let is_here = |name: &str| {
        name == "localhost"
            || name
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    };
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => is_here(name),
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

/// Creates the encryption. The server's certificate must be signed by one in `roots`, or by an authority that this
/// system trusts.
fn encryption(roots: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let Some(path) = roots else {
        let (made, _) = MakeRustlsConnect::with_native_certs().map_err(|_| {
            bad_address(
                "this system trusts no authority; name the server's with `sslrootcert=PATH`".into(),
            )
        })?;
        return Ok(made);
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
        return Err(unreadable("there is no certificate in it".into()));
    }
    let config = ClientConfig::builder().with_root_certificates(trusted);
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

#[cfg(test)]
mod tests {
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
}
