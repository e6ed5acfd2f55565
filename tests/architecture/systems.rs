//! Checks that code which depends on the operating system is in one folder. The harness is exempt: it has no dependencies, so it cannot
//! use that folder.

use super::modules::without_tests;
use super::scanner::{contains, names_crate};
use super::sources::Source;

/// The folder for such code. It offers the same functions on every system.
const HOME: &str = "crates/host/src/os/";

/// Files in other folders that may depend on the operating system, each with the reason.
pub const ASKERS: [(&str, &str); 1] = [(
    "crates/store/src/server/address.rs",
    "the library for PostgreSQL has sockets of the file system as a variant on Unix only",
)];

/// Crates that give access to the functions of an operating system.
const SYSTEM_CRATES: [&str; 6] = ["dunce", "junction", "libc", "nix", "rustix", "windows_sys"];

/// Finds code outside of [`HOME`] that depends on the operating system. Tests may depend on it, because some need programs that only one system has.
pub fn system_dependencies(source: &Source) -> Vec<String> {
    let is_exempt = ASKERS.iter().any(|(path, _)| *path == source.path);
    if source.path.starts_with(HOME) || source.path.starts_with("harness/") || is_exempt {
        return Vec::new();
    }
    let tokens = without_tests(&source.tokens);
    let mut found = Vec::new();
    for condition in ["target_os", "target_family", "unix", "windows"] {
        let begins = [
            &["cfg", "("][..],
            &["cfg", "!", "("],
            &["not", "("],
            &["any", "("],
            &["all", "("],
        ];
        let asks = begins.iter().any(|begin| {
            let wanted = [begin, &[condition][..]].concat();
            contains(&tokens, &wanted)
        });
        if asks {
            found.push(format!("`{condition}`"));
        }
    }
    if contains(&tokens, &["std", "::", "os", "::"]) {
        found.push("`std::os`".to_owned());
    }
    let crates = SYSTEM_CRATES.iter();
    let named = crates.filter(|name| names_crate(&tokens, name));
    found.extend(named.map(|name| format!("`{name}`")));
    let complaint = |what: String| {
        format!(
            "{} depends on the system ({what}): give {HOME} a function for it",
            source.path
        )
    };
    found.into_iter().map(complaint).collect()
}

mod tests {
    use super::*;

    #[test]
    fn code_for_one_system_is_found_outside_its_folder() {
        let complaints =
            |path: &str, text: &str| system_dependencies(&Source::new(path, text)).len();
        for planted in [
            "#[cfg(unix)] fn f() {}",
            "#[cfg(not(target_os = \"linux\"))] fn f() {}",
            "fn f() -> bool { cfg!(windows) }",
            "use std::os::unix::fs::MetadataExt;",
            "fn f() { rustix::process::getpid(); }",
        ] {
            assert_eq!(complaints("crates/build/src/a.rs", planted), 1, "{planted}");
            assert_eq!(complaints("crates/host/src/os/linux.rs", planted), 0);
        }
        for harmless in [
            "#[cfg(test)] mod tests { use std::os::unix::fs::MetadataExt; }",
            "use super::windows::TimedWindows;",
            "use perfcheck_host::os::canonicalize;",
        ] {
            assert_eq!(complaints("src/a.rs", harmless), 0, "{harmless}");
        }
    }
}
