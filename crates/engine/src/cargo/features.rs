//! Bench targets whose `required-features` are off.
//!
//! `cargo bench` passes over them, but refuses those that are named, and our pattern for all bench targets names them. So they are left
//! out by name, and told about. Which features are on is read from the manifests; nothing is resolved for it.

use cargo_metadata::{Dependency, Package, Target, TargetKind};
use std::collections::BTreeSet;

use super::metadata::Workspace;
use super::options::{ALL_BENCHES, CargoOptions};

/// A bench target that needs features that are off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetLeftOut {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// What it needs and has not got.
    pub missing: Vec<String>,
}

/// A package of the workspace, by its place, and a feature of it; without one: that it is there.
type Switch = (usize, Option<String>);

impl Workspace {
    /// The bench targets that `options` mean without naming them, and that need features that are off.
    pub fn left_out(&self, options: &CargoOptions) -> Vec<TargetLeftOut> {
        let Some(selected) = self
            .selected(options)
            .filter(|_| options.means_all_benches())
        else {
            return Vec::new();
        };
        let members = self.members();
        let on = switched_on(&members, &selected, options);
        let mut left_out = Vec::new();
        for (place, package) in members.iter().enumerate() {
            if !selected.iter().any(|one| one.id == package.id) {
                continue;
            }
            for target in bench_targets(package) {
                let is_off = |feature: &&String| {
                    // Of another package's feature cargo knows more.
                    package.features.contains_key(*feature)
                        && !on.contains(&(place, Some((*feature).clone())))
                };
                let missing: Vec<String> = target
                    .required_features
                    .iter()
                    .filter(is_off)
                    .cloned()
                    .collect();
                if !missing.is_empty() {
                    left_out.push(TargetLeftOut {
                        package: package.name.to_string(),
                        target: target.name.clone(),
                        missing,
                    });
                }
            }
        }
        left_out
    }

    /// `options` with names of the bench targets that can be built, where some cannot; `None` where there is nothing to build.
    pub(super) fn buildable(&self, options: &CargoOptions) -> Option<CargoOptions> {
        let left_out = self.left_out(options);
        if left_out.is_empty() {
            return Some(options.clone());
        }
        let mut names = BTreeSet::new();
        for package in self.selected(options)? {
            let names_of = bench_targets(package).map(|target| target.name.clone());
            names.extend(names_of.filter(|name| {
                left_out
                    .iter()
                    .all(|one| one.package != *package.name || one.target != *name)
            }));
        }
        let mut buildable = options.clone();
        buildable.benches.retain(|name| name != ALL_BENCHES);
        buildable.benches.extend(names);
        (!buildable.wants_all_benches()).then_some(buildable)
    }
}

fn bench_targets(package: &Package) -> impl Iterator<Item = &Target> {
    package
        .targets
        .iter()
        .filter(|target| target.kind == [TargetKind::Bench])
}

/// What `options` switch on in `selected` packages, and these in one another.
fn switched_on(
    members: &[&Package],
    selected: &[&Package],
    options: &CargoOptions,
) -> BTreeSet<Switch> {
    let mut to_do: Vec<Switch> = Vec::new();
    let words: Vec<&str> = options
        .features
        .iter()
        .flat_map(|features| features.split([',', ' ']))
        .filter(|word| !word.is_empty())
        .collect();
    for (place, package) in members.iter().enumerate() {
        for word in &words {
            if let Some((name, feature)) = word.split_once('/')
                && *name == **package.name
            {
                to_do.push((place, Some(feature.to_owned())));
            }
        }
        if !selected.iter().any(|one| one.id == package.id) {
            continue;
        }
        to_do.push((place, None));
        to_do.extend(words.iter().map(|word| (place, Some((*word).to_owned()))));
        if options.all_features {
            to_do.extend(
                package
                    .features
                    .keys()
                    .map(|name| (place, Some(name.clone()))),
            );
        }
        if !options.no_default_features {
            to_do.push((place, Some("default".to_owned())));
        }
    }
    let mut on = BTreeSet::new();
    while let Some(switch) = to_do.pop() {
        if on.insert(switch.clone()) {
            let (place, feature) = switch;
            match feature {
                Some(feature) => to_do.extend(implied(members, place, &feature)),
                None => to_do.extend(asked_of_members(members, place)),
            }
        }
    }
    on
}

/// What a feature of a package switches on.
fn implied(members: &[&Package], place: usize, feature: &str) -> Vec<Switch> {
    let package = members[place];
    let mut implied = Vec::new();
    let entries = package.features.get(feature).map_or(&[][..], Vec::as_slice);
    // On the command line it may be a dependency's, as in an entry.
    let itself = feature.contains('/').then_some(feature);
    for entry in entries.iter().map(String::as_str).chain(itself) {
        let (name, of_dependency) = match (entry.strip_prefix("dep:"), entry.split_once('/')) {
            (Some(name), _) => (name, None),
            (None, Some((name, feature))) => (name, Some(feature)),
            (None, None) => {
                implied.push((place, Some(entry.to_owned())));
                continue;
            }
        };
        let weak = name.ends_with('?');
        let name = name.trim_end_matches('?');
        if !weak {
            implied.push((place, Some(name.to_owned())));
        }
        for dependency in &package.dependencies {
            if dependency.rename.as_deref().unwrap_or(&dependency.name) == name
                && let Some(other) = member(members, dependency)
            {
                if !weak {
                    implied.extend(asked(dependency, other));
                }
                implied.extend(of_dependency.map(|feature| (other, Some(feature.to_owned()))));
            }
        }
    }
    implied
}

/// What a package's dependencies ask of other members, as far as they are always there.
fn asked_of_members(members: &[&Package], place: usize) -> Vec<Switch> {
    let dependencies = members[place].dependencies.iter();
    dependencies
        .filter(|dependency| !dependency.optional)
        .filter_map(|dependency| Some(asked(dependency, member(members, dependency)?)))
        .flatten()
        .collect()
}

/// What a dependency asks of the member that it is.
fn asked(dependency: &Dependency, member: usize) -> Vec<Switch> {
    let default = dependency
        .uses_default_features
        .then(|| "default".to_owned());
    let features = dependency.features.iter().cloned().chain(default);
    features
        .map(|feature| (member, Some(feature)))
        .chain([(member, None)])
        .collect()
}

fn member(members: &[&Package], dependency: &Dependency) -> Option<usize> {
    let directory = dependency.path.as_ref()?;
    members
        .iter()
        .position(|package| package.manifest_path.parent() == Some(directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    const ROOT: &str = "[workspace]\nresolver = \"2\"\nmembers = [\"text\", \"codec\"]\n";
    const TEXT: &str = r#"
[package]
name = "text"
version = "0.1.0"
edition = "2021"
[features]
default = ["std"]
std = []
fast = ["std"]
[[bench]]
name = "plain"
harness = false
[[bench]]
name = "quick"
harness = false
required-features = ["fast", "std"]
"#;
    const CODEC: &str = r#"
[package]
name = "codec"
version = "0.1.0"
edition = "2021"
[features]
quick = ["dep:text"]
[dependencies]
text = { path = "../text", features = ["fast"], optional = true }
[[bench]]
name = "bytes"
harness = false
required-features = ["quick"]
"#;

    /// What is left out and what cargo is told to build, with these features and packages.
    fn check(features: &[&str], packages: &[&str], left_out: &[&str], built: Option<&[&str]>) {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        fs::write(root.join("Cargo.toml"), ROOT).expect("a manifest");
        for (name, manifest, benches) in [
            ("text", TEXT, &["plain", "quick"][..]),
            ("codec", CODEC, &["bytes"]),
        ] {
            let package = root.join(name);
            fs::create_dir_all(package.join("src")).expect("a directory");
            fs::create_dir_all(package.join("benches")).expect("a directory");
            fs::write(package.join("Cargo.toml"), manifest).expect("a manifest");
            fs::write(package.join("src/lib.rs"), "").expect("a library");
            for bench in benches {
                let path = package.join(format!("benches/{bench}.rs"));
                fs::write(path, "fn main() {}").expect("a bench");
            }
        }
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let options = CargoOptions {
            manifest_path: Some(root.join("Cargo.toml")),
            features: owned(features),
            packages: owned(packages),
            ..CargoOptions::default()
        };
        let workspace = Workspace::load(Path::new(env!("CARGO")), &options).expect("a workspace");
        let found: Vec<String> = workspace
            .left_out(&options)
            .iter()
            .map(|one| format!("{}/{}: {}", one.package, one.target, one.missing.join(" ")))
            .collect();
        assert_eq!(found, left_out);
        let buildable = workspace.buildable(&options);
        let benches = buildable.map(|options| options.benches);
        assert_eq!(benches, built.map(owned));
    }

    #[test]
    fn targets_that_need_features_which_are_off_are_left_out() {
        let all = &["text/quick: fast", "codec/bytes: quick"];
        check(&[], &[], all, Some(&["plain"]));
        check(&["fast"], &["text"], &[], Some(&[]));
        check(
            &["text/fast"],
            &[],
            &["codec/bytes: quick"],
            Some(&["plain", "quick"]),
        );
    }

    #[test]
    fn a_member_may_switch_on_features_of_another_one() {
        check(&["quick"], &[], &[], Some(&[]));
    }

    #[test]
    fn where_all_are_left_out_there_is_nothing_to_build() {
        check(&[], &["codec"], &["codec/bytes: quick"], None);
    }
}
