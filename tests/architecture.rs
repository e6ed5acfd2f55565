//! Checks the architecture: which module may import which, circles of imports, the shape of files, unused dependencies, type names with several
//! meanings, and folders that the architecture page omits. Each rule is in its own file, with tests of planted violations.

#![expect(clippy::unwrap_used, reason = "a test: what cannot be read fails it")]

#[path = "architecture/circles.rs"]
mod circles;
#[path = "architecture/forgotten.rs"]
mod forgotten;
#[path = "architecture/imports.rs"]
mod imports;
#[path = "architecture/layers.rs"]
mod layers;
#[path = "architecture/manifests.rs"]
mod manifests;
#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/names.rs"]
mod names;
#[path = "architecture/page.rs"]
mod page;
#[path = "architecture/processes.rs"]
mod processes;
#[path = "architecture/scanner.rs"]
mod scanner;
#[path = "architecture/shape.rs"]
mod shape;
#[path = "architecture/sources.rs"]
mod sources;
#[path = "architecture/systems.rs"]
mod systems;

use circles::{circles, described};
use forgotten::forgotten;
use imports::imports;
use layers::{LAYERS, forbidden_imports, strangers};
use manifests::dependencies;
use names::{SHARED_NAMES, ambiguous_names};
use page::page_faults;
use processes::{STARTERS, started_past_the_launcher};
use scanner::names_crate;
use shape::{LONG_FILES, direct_output, misshapen};
use sources::{Source, all_sources, crates, folders, repository, rust_files, sources};
use std::fs;
use systems::{ASKERS, system_dependencies};

/// Fails if a file in a list of exceptions is not there any more.
fn none_is_gone(all: &[Source], exceptions: &[(&str, &str)], list: &str) {
    for (path, _) in exceptions {
        assert!(
            all.iter().any(|source| source.path == *path),
            "{path} is gone: remove it from {list}"
        );
    }
}

/// Fails with all complaints, one per line, if there are any.
fn none_of(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn imports_point_downwards() {
    let layered = LAYERS.iter().flat_map(|(root, _)| sources(root));
    let complaints: Vec<String> = layered
        .flat_map(|file| [forbidden_imports(&file), strangers(&file)].concat())
        .collect();
    none_of(&complaints);
}

#[test]
fn the_layers_stand_on_one_another() {
    for (root, layers) in LAYERS {
        for (height, (module, allowed)) in layers.iter().enumerate() {
            for below in *allowed {
                let stands_lower = layers[..height].iter().any(|(lower, _)| lower == below);
                assert!(
                    stands_lower || below.starts_with("perfcheck_"),
                    "{root}: `{module}` may import `{below}`, which does not stand below it"
                );
            }
        }
    }
}

#[test]
fn every_dependency_is_used() {
    for root in crates() {
        let sources = sources(&root);
        let manifest = repository().join(&root).join("../Cargo.toml");
        for name in dependencies(&fs::read_to_string(manifest).unwrap()) {
            let mut sources = sources.iter();
            assert!(
                sources.any(|source| names_crate(&source.tokens, &name)),
                "{root} does not use `{name}`, which its manifest names"
            );
        }
    }
}

#[test]
fn all_output_goes_through_writers_that_are_passed_in() {
    let all = all_sources();
    none_of(&all.iter().flat_map(direct_output).collect::<Vec<_>>());
}

#[test]
fn programs_are_started_by_the_launcher_alone() {
    let all = all_sources();
    let tool = all
        .iter()
        .filter(|source| !source.path.starts_with("harness/"));
    none_of(&tool.flat_map(started_past_the_launcher).collect::<Vec<_>>());
    none_is_gone(&all, &STARTERS, "STARTERS");
}

#[test]
fn operating_systems_are_known_to_one_folder() {
    let all = all_sources();
    none_of(&all.iter().flat_map(system_dependencies).collect::<Vec<_>>());
    none_is_gone(&all, &ASKERS, "ASKERS");
}

#[test]
fn module_files_begin_with_their_docs_and_stay_short() {
    let all = all_sources();
    none_of(&all.iter().flat_map(misshapen).collect::<Vec<_>>());
    none_is_gone(&all, &LONG_FILES, "LONG_FILES");
}

#[test]
fn no_files_import_each_other_in_circles() {
    let mut found = Vec::new();
    for below in crates() {
        let imports = imports(&sources(&below));
        let circles = circles(&imports).into_iter();
        found.extend(circles.map(|circle| described(&imports, &circle)));
    }
    none_of(&found);
}

#[test]
fn a_type_name_means_one_type() {
    let crates: Vec<_> = crates().iter().map(|root| sources(root)).collect();
    none_of(&ambiguous_names(&crates, &SHARED_NAMES));
}

#[test]
fn the_architecture_page_names_every_folder_and_lists_no_files() {
    let page = fs::read_to_string(repository().join("docs/internals/src/architecture.md")).unwrap();
    // Tests and tools have their own pages about their contents.
    let mut wanted: Vec<String> = ["tests/", "tools/"].map(str::to_owned).into();
    wanted.extend(crates().iter().flat_map(|root| folders(root)));
    none_of(&page_faults(&page, &wanted, |path| {
        repository().join(path).exists()
    }));
}

#[test]
fn no_test_file_is_forgotten() {
    let paths: Vec<String> = (rust_files("tests").iter())
        .map(|path| path["tests/".len()..].to_owned())
        .collect();
    let text = |path: &str| fs::read_to_string(repository().join("tests").join(path)).unwrap();
    let complaints = forgotten(&paths, text).into_iter();
    none_of(
        &complaints
            .map(|path| format!("no test executable declares tests/{path}"))
            .collect::<Vec<_>>(),
    );
}
