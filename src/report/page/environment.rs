//! The environments of a page's runs: a table with a line for each fact and a column for each run.

use serde::Serialize;

use super::content::{Page, PageRun};
use crate::escape::one_line;
use crate::report::units;
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::model::{GitState, HostFacts, Run};

/// A fact that every run of the page has.
struct EnvironmentFact {
    name: &'static str,
    /// The fact as used to judge whether runs are comparable, if it is one of those.
    fact: Option<Fact>,
    value: fn(&PageRun<'_>) -> String,
}

const LINES: [EnvironmentFact; 20] = [
    line("measured", None, |run| run.started.clone()),
    line("commit", None, |run| {
        git_fact(run.head, |git| git.commit.clone())
    }),
    line("branch", None, |run| {
        git_fact(run.head, |git| {
            let branch = git.branch.clone().unwrap_or_else(|| "detached".to_owned());
            if git.dirty {
                format!("{branch}, modified")
            } else {
                branch
            }
        })
    }),
    line("cpu", Some(Fact::Cpu), |run| {
        host_fact(run, |host| host.cpu.clone())
    }),
    line("architecture", Some(Fact::Architecture), |run| {
        host_fact(run, |host| host.architecture.clone())
    }),
    line("cores", Some(Fact::Cores), |run| {
        host_fact(run, |host| host.cores.to_string())
    }),
    line("os", Some(Fact::Os), |run| {
        host_fact(run, |host| host.os.clone())
    }),
    line("kernel", Some(Fact::Kernel), |run| {
        host_fact(run, |host| host.kernel.clone())
    }),
    line("governor", Some(Fact::Governor), |run| {
        host_fact(run, |host| host.governor.clone().unwrap_or_default())
    }),
    line("microcode", Some(Fact::Microcode), |run| {
        host_fact(run, |host| host.microcode.clone().unwrap_or_default())
    }),
    line("shared host", None, |run| {
        host_fact(run, |host| {
            match host.shared {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown",
            }
            .to_owned()
        })
    }),
    line("load at the start", None, |run| {
        run.head
            .begun
            .load
            .map(|load| format!("{load:.2}"))
            .unwrap_or_default()
    }),
    line("clock step", None, |run| {
        let step = run.signs.clock_step;
        step.map(|step| format!("{} ns", step.0))
            .unwrap_or_default()
    }),
    line("control workload", None, format_control_workload),
    line("rustc", Some(Fact::Rustc), |run| {
        run.head.begun.environment.build.rustc.clone()
    }),
    line("target", Some(Fact::Target), |run| {
        run.head.begun.environment.build.target.clone()
    }),
    line("profile", Some(Fact::Profile), |run| {
        run.head.begun.environment.build.profile.clone()
    }),
    line("rustflags", Some(Fact::Rustflags), |run| {
        run.head.begun.environment.build.rustflags.clone()
    }),
    line("seed", None, |run| run.head.begun.seed.to_string()),
    line("cargo-perfcheck", None, |run| {
        run.head.begun.tool_version.clone()
    }),
];

const fn line(
    name: &'static str,
    fact: Option<Fact>,
    value: fn(&PageRun<'_>) -> String,
) -> EnvironmentFact {
    EnvironmentFact { name, fact, value }
}

fn git_fact(run: &Run, pick: impl Fn(&GitState) -> String) -> String {
    run.begun.git.as_ref().map(pick).unwrap_or_default()
}

fn host_fact(run: &PageRun<'_>, pick: impl Fn(&HostFacts) -> String) -> String {
    pick(&run.head.begun.environment.host)
}

fn format_control_workload(run: &PageRun<'_>) -> String {
    let signs = &run.signs;
    let Some(pass) = signs.control_ns else {
        return String::new();
    };
    let jitter = units::jitter(signs).map(|jitter| format!(", {jitter}"));
    format!("{}{}", units::time(pass), jitter.unwrap_or_default())
}

/// A fact as data for the page's script.
#[derive(Serialize)]
pub(super) struct FactData {
    name: &'static str,
    /// Whether the fact is checked when runs are compared.
    fact: bool,
    /// Whether a difference makes runs incomparable.
    blocks: bool,
    /// The value in each run.
    values: Vec<String>,
}

/// Returns the facts that at least one run knows.
pub(super) fn environment_facts(page: &Page<'_>) -> Vec<FactData> {
    let facts = LINES.iter().map(|line| FactData {
        name: line.name,
        fact: line.fact.is_some(),
        blocks: line.fact.is_some_and(|fact| Fact::BLOCKING.contains(&fact)),
        values: (page.runs.iter())
            .map(|run| one_line(&(line.value)(run)))
            .collect(),
    });
    let is_known = |fact: &FactData| fact.values.iter().any(|value| !value.is_empty());
    facts.filter(is_known).collect()
}
