//! Package specifications as accepted by `-p` and `--exclude`: a name, a glob, `name@version`, or a URL.
//!
//! Grammar and meaning: <https://doc.rust-lang.org/cargo/reference/pkgid-spec.html>.

use cargo_metadata::Package;
use globset::GlobBuilder;

/// Reports whether `specification` matches this package.
pub(super) fn matches_package(specification: &str, package: &Package) -> bool {
    if is_glob(specification) {
        // Cargo matches globs against package names, which contain no slashes.
        let glob = GlobBuilder::new(specification).build();
        return glob.is_ok_and(|glob| glob.compile_matcher().is_match(&**package.name));
    }
    let Some((address, fragment)) = split_address(specification) else {
        return matches_name_and_version(specification, package);
    };
    if !is_address_of(address, package) {
        return false;
    }
    fragment.is_none_or(|fragment| {
        matches_version(fragment, package) || matches_name_and_version(fragment, package)
    })
}

/// Reports whether cargo treats the text as a glob.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']'])
}

/// Splits a URL at `#`. Returns `None` if the specification is not a URL.
fn split_address(specification: &str) -> Option<(&str, Option<&str>)> {
    if !specification.contains("://") {
        return None;
    }
    Some(match specification.split_once('#') {
        Some((address, fragment)) => (address, Some(fragment)),
        None => (specification, None),
    })
}

fn matches_name_and_version(text: &str, package: &Package) -> bool {
    match text.split_once(['@', ':']) {
        Some((name, version)) => *name == **package.name && matches_version(version, package),
        None => *text == **package.name,
    }
}

/// Reports whether the package's version matches `wanted`, which may omit trailing parts.
fn matches_version(wanted: &str, package: &Package) -> bool {
    let version = &package.version;
    let whole = version.to_string();
    let parts: Vec<&str> = wanted.split('.').collect();
    let numbers = [version.major, version.minor, version.patch].map(|part| part.to_string());
    let without_build = whole.split('+').next();
    wanted == whole
        || Some(wanted) == without_build
        || (parts.len() < numbers.len()
            && version.pre.is_empty()
            && parts
                .iter()
                .zip(&numbers)
                .all(|(part, number)| part == number))
}

/// Reports whether this member of the workspace has that address. The address may omit the kind of source before `+`.
fn is_address_of(address: &str, package: &Package) -> bool {
    // The id is `path+file:///directory#name@1.0.0` or, before cargo 1.77, `name 1.0.0 (path+file:///directory)`.
    let id = &package.id.repr;
    let own = match id.split_once(" (") {
        Some((_, behind)) => behind.trim_end_matches(')'),
        None => id.split('#').next().unwrap_or_default(),
    };
    let address = address.trim_end_matches('/');
    address == own || own.split_once('+').is_some_and(|(_, own)| address == own)
}
