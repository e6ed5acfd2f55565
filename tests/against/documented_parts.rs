//! Runs the workflows of the chapter on CI that split a suite over several jobs: every script of every step, in a shell. Each job has its own home,
//! store and cache. The test itself does what a CI system does between scripts (checkouts, artifacts).

use saphyr::Yaml;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::against::parts::slower;
use crate::against::project::Project;
use crate::book::pages::Page;
use crate::book::workflows::{document, member};
use crate::support::Machine;

/// The number of jobs into which the workflows in the chapter on CI split a suite.
const JOBS: u32 = 4;

/// Declares eleven benchmarks. Only `cost/3` and `cost/10` depend on the library, so the others need not be measured.
const ELEVEN: &str = r#"
    for input in (1..=11_u64).rev() {
        let id = format!("cost/{input}");
        if input == 3 || input == 10 {
            suite.bench(&id, move |b| takes(b, planted::NANOSECONDS + input));
        } else {
            suite.bench(&id, move |b| takes(b, 100 + input));
        }
    }
"#;

/// A repository with the branch `main` and a pull request that makes `cost/3` and `cost/10` slower.
struct Origin<'m> {
    project: Project<'m>,
    base: String,
}

impl<'m> Origin<'m> {
    fn new(machine: &'m Machine) -> Self {
        let project = slower(machine, ELEVEN);
        let base = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
        project.git(&["branch", "--move", "main"]);
        project.git(&["checkout", "--quiet", "-b", "request"]);
        project.commit();
        Self { project, base }
    }

    /// Creates a job with an empty home and a clone of this repository. `depth` is the number of cloned commits, 0 for all.
    fn job(&self, name: &str, depth: u64) -> Job<'m> {
        let home = self.project.machine.home().join(name);
        fs::create_dir_all(&home).expect("a directory");
        let checkout = home.join("planted");
        let mut git = self.project.machine.command("git");
        git.args(["clone", "--quiet", "--branch", "request"]);
        if depth > 0 {
            git.arg(format!("--depth={depth}"));
        }
        git.arg(format!("file://{}", self.project.root().display()));
        let cloned = git.arg(&checkout).output().expect("git");
        assert!(cloned.status.success(), "{cloned:?}");
        Job {
            machine: self.project.machine,
            home,
            checkout,
        }
    }
}

/// A job of a CI system, with a home directory and a checkout of its own.
struct Job<'m> {
    machine: &'m Machine,
    home: PathBuf,
    checkout: PathBuf,
}

impl Job<'_> {
    /// Runs a script as a step of the job.
    fn script(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_cargo-perfcheck"));
        let tools = std::env::var("PATH").expect("a path");
        let path = format!("{}:{tools}", program.parent().expect("there").display());
        let mut shell: Command = self.machine.command("bash");
        shell
            .args(["-e", "-c", script])
            .current_dir(&self.checkout)
            .env_remove("CARGO_TARGET_DIR")
            .env("PATH", path)
            .env("HOME", &self.home)
            .env("XDG_DATA_HOME", self.home.join("data"))
            .env("XDG_CACHE_HOME", self.home.join("cache"))
            .env("CARGO_NET_OFFLINE", "true")
            .env("CI", "true")
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        shell.output().expect("a shell")
    }

    /// Copies the files that match `pattern` to `into`, as the upload of an artifact does.
    fn keep(&self, pattern: &str, into: &Path) {
        fs::create_dir_all(into).expect("a directory");
        let copy = format!("cp -r {pattern} '{}'", into.display());
        let copied = self.script(&copy, &[]);
        assert!(copied.status.success(), "{copied:?}");
    }
}

/// Returns the only workflow of the page that contains `word`.
fn workflow<'p>(page: &'p Page, word: &str) -> &'p str {
    let blocks = page.blocks().into_iter();
    let mut found = blocks.filter(|block| block.language == "yaml" && block.code.contains(word));
    let workflow = found.next().expect("a workflow").code;
    assert!(
        found.next().is_none(),
        "{word} stands in one workflow alone"
    );
    workflow
}

fn text<'y>(node: &'y Yaml<'y>, name: &str) -> Option<&'y str> {
    member(node, name).and_then(Yaml::as_str)
}

/// Reports whether the script installs the tool. The test skips this script, because compiling the tool takes minutes and the executable is already
/// built.
fn is_installation(script: &str) -> bool {
    script == r#"cargo install --locked --git "<address of your clone>" cargo-perfcheck"#
}

/// Runs the steps of a GitHub job. Artifacts are kept in `artifacts`. The checkout has the whole history if the step requests it.
fn run_github(
    workflow: &str,
    name: &str,
    part: Option<u32>,
    origin: &Origin<'_>,
    artifacts: &Path,
) -> Vec<Output> {
    let document = document(workflow);
    let jobs = member(&document, "jobs").expect("jobs");
    let steps = member(jobs, name).and_then(|job| member(job, "steps"));
    let part = part.map_or_else(String::new, |part| part.to_string());
    let filled = |text: &str| text.replace("${{ matrix.part }}", &part);
    let mut job = None;
    let mut outputs: Vec<Output> = Vec::new();
    for step in steps.and_then(Yaml::as_sequence).expect("steps") {
        let failed = outputs.iter().any(|output| !output.status.success());
        if failed && text(step, "if") != Some("${{ !cancelled() }}") {
            continue;
        }
        let with = member(step, "with");
        let option = |name: &str| with.and_then(|with| text(with, name)).map(&filled);
        match text(step, "uses").and_then(|uses| uses.split('@').next()) {
            Some("actions/checkout") => {
                let depth = with.and_then(|with| member(with, "fetch-depth"));
                let depth = depth.and_then(Yaml::as_integer).unwrap_or(1);
                job = Some(origin.job(&format!("{name}{part}"), depth.unsigned_abs()));
            }
            Some("actions/upload-artifact") => {
                let into = artifacts.join(option("name").expect("a name"));
                let job = job.as_ref().expect("checked out");
                job.keep(&option("path").expect("a path"), &into);
            }
            Some("actions/download-artifact") => {
                let job = job.as_ref().expect("checked out");
                let into = job.checkout.join(option("path").expect("a path"));
                let pattern = artifacts.join(option("pattern").expect("a pattern"));
                job.keep(&pattern.display().to_string(), &into);
            }
            Some(other) => panic!("{other}"),
            None => {
                let script = text(step, "run").expect("a script").trim();
                if is_installation(script) {
                    continue;
                }
                let variables = member(step, "env").and_then(Yaml::as_mapping);
                let variables: Vec<(&str, String)> = (variables.into_iter().flatten())
                    .map(|(name, value)| {
                        let value = filled(value.as_str().expect("a text"));
                        (name.as_str().expect("a name"), value)
                    })
                    .collect();
                let mut all = vec![("GITHUB_BASE_REF", "main"), ("GITHUB_ACTIONS", "true")];
                all.extend(variables.iter().map(|(name, value)| (*name, &**value)));
                outputs.push(job.as_ref().expect("checked out").script(script, &all));
            }
        }
    }
    outputs
}

/// Asserts that the merging job reports the two benchmarks that the pull request makes slower, and no others.
#[track_caller]
fn expect_both_slower(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said.contains("2 of 11 regressed"), "{output:?}");
    for slower in ["cost/3 ", "cost/10 "] {
        let row = said.lines().find(|line| line.contains(slower));
        let row = row.expect(slower);
        assert!(row.contains("regressed"), "{row}");
    }
}

#[test]
fn the_github_workflow_of_four_jobs_decides_as_one_and_names_a_part_that_is_missing() {
    let machine = Machine::new();
    let origin = Origin::new(&machine);
    let page = Page::chapter("ci");
    let workflow = workflow(&page, "matrix:");
    let parts: Vec<String> = (1..=JOBS).map(|part| part.to_string()).collect();
    assert!(workflow.contains(&format!("part: [{}]\n", parts.join(", "))));
    let artifacts = machine.home().join("artifacts");
    thread::scope(|scope| {
        for part in 1..=JOBS {
            let (origin, artifacts) = (&origin, &artifacts);
            scope.spawn(move || {
                for output in run_github(workflow, "measure", Some(part), origin, artifacts) {
                    assert!(output.status.success(), "{part}: {output:?}");
                }
            });
        }
    });
    let merged = run_github(workflow, "merge", None, &origin, &artifacts);
    assert_eq!(merged.len(), 1);
    expect_both_slower(&merged[0]);
    for report in ["benchmarks.md", "benchmarks.html"] {
        let report = artifacts.join("benchmarks").join(report);
        assert!(
            fs::read_to_string(report)
                .expect("a report")
                .contains("cost/10")
        );
    }

    fs::remove_dir_all(artifacts.join("part-4")).expect("its artifact");
    fs::remove_dir_all(machine.home().join("merge")).expect("its home");
    let merged = run_github(workflow, "merge", None, &origin, &artifacts);
    assert_eq!(merged[0].status.code(), Some(4), "{:?}", merged[0]);
    let said = [&merged[0].stdout[..], &merged[0].stderr[..]].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("part 4/4 is missing"), "{said}");
}

#[test]
fn the_gitlab_pipeline_of_four_jobs_decides_as_one() {
    let machine = Machine::new();
    let origin = Origin::new(&machine);
    let page = Page::chapter("workflows");
    let pipeline = workflow(&page, "parallel:");
    let document = document(pipeline);
    let lines = |job: &str, part: &str| -> Vec<String> {
        let part = member(&document, job).and_then(|job| member(job, part));
        let lines = part.and_then(Yaml::as_sequence).into_iter().flatten();
        let lines = lines.map(|line| line.as_str().expect("a line").to_owned());
        lines.filter(|line| !is_installation(line)).collect()
    };
    let measure = member(&document, "measure").expect("a job");
    let parallel = member(measure, "parallel").and_then(Yaml::as_integer);
    assert_eq!(parallel, Some(i64::from(JOBS)));
    let artifacts = machine.home().join("artifacts");
    thread::scope(|scope| {
        for part in 1..=JOBS {
            let scripts = [lines("measure", "script"), lines("measure", "after_script")];
            let (origin, artifacts) = (&origin, &artifacts);
            scope.spawn(move || {
                let job = origin.job(&format!("measure{part}"), 0);
                let (index, total) = (part.to_string(), JOBS.to_string());
                let variables = [
                    ("CI_NODE_INDEX", &*index),
                    ("CI_NODE_TOTAL", &*total),
                    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &*origin.base),
                ];
                for script in scripts.iter().flatten() {
                    let output = job.script(script, &variables);
                    assert!(output.status.success(), "{part}: {output:?}");
                }
                job.keep("part-*.jsonl", artifacts);
            });
        }
    });
    let job = origin.job("merge", 0);
    job.keep(&format!("{}/*", artifacts.display()), &job.checkout);
    let scripts = lines("merge", "script");
    assert_eq!(scripts.len(), 1);
    expect_both_slower(&job.script(&scripts[0], &[]));
    for report in ["benchmarks.xml", "benchmarks.html"] {
        let report = fs::read_to_string(job.checkout.join(report)).expect("a report");
        assert!(report.contains("cost/10"), "{report}");
    }
}
