//! The exact output for people and for machines: snapshots under the scripted clock, and the contract of docs/internals/src/messages.md.

mod action;
mod contract;
mod github_actions;
mod hostile;
mod human;
mod json;
mod listing;
pub mod recorded;
mod reports;
pub mod schema;
mod terminal;

use crate::support::{Finished, Machine, Perfcheck};

/// Prepares a run of `steady` in which the processes of `arithmetic` take these times per iteration, such as `100/101/100`.
fn steady(machine: &Machine, arithmetic: &str) -> Perfcheck {
    quick(machine, "steady").env(
        "PERFCHECK_SCRIPTED_CLOCK",
        format!("arithmetic={arithmetic};memory=100/101/100;text=50/51/50"),
    )
}

/// Prepares a short run of a crate of testbench.
fn quick(machine: &Machine, package: &str) -> Perfcheck {
    let options = "--rounds 3 --warm-up-time 1ms --measurement-time 5ms --resamples 2000 --seed 7";
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", package])
        .args(options.split(' '))
        .env("CI", "true")
}

/// Runs a command that uses the runs stored for the workspace of testbench.
fn stored(machine: &Machine, words: &str) -> Finished {
    machine
        .perfcheck()
        .args(words.split(' '))
        .testbench("")
        .run()
}

/// Returns settings for snapshots that show the layout of a text. All blanks are kept.
fn layout() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// Returns settings for snapshots in which text that depends on the machine or the time is hidden.
fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[TIME]");
    settings.add_filter(r"[0-9a-f]{12}(, modified)? +[^\s,]+", "[COMMIT]");
    settings.add_filter(r"--manifest-path \S+", "--manifest-path [PATH]");
    settings.add_filter(r" {2,}", "  ");
    settings.add_filter(
        r"the last accepted run( of `[^`]+`(, which this branch forked from)?)?(, using stored numbers|  exit)",
        "the last accepted run of [BRANCH]$3",
    );
    settings
}
