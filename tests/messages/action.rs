//! Runs `action.yml` step by step: its scripts run one after another in a shell, with the variables that GitHub sets. The test replaces other actions
//! and GitHub's command-line program.

use saphyr::Yaml;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::against::project::Project;
use crate::book::workflows::{commands_in, document, member};
use crate::support::{Finished, Machine, run, write_program};

const ACTION: &str = include_str!("../../action.yml");

/// Arguments for a short run with a fixed seed.
const ARGUMENTS: &str = "--offline --seed 7 --rounds 5";

/// A job of GitHub that does nothing but run this action.
struct Job<'m> {
    project: Project<'m>,
    /// Values of expressions: `github.*`, `runner.*`, `inputs.*`, and `steps.*` of the steps that have run.
    values: BTreeMap<String, String>,
    /// Ids of the steps that have run.
    done: Vec<String>,
}

/// What remains when a job has ended: the result of its last script, and the steps that have run.
struct Ended {
    last: Finished,
    steps: Vec<String>,
}

impl<'m> Job<'m> {
    /// Creates a job for a pull request that changes the time of `cost` from 100 to `nanoseconds`.
    fn new(machine: &'m Machine, nanoseconds: u64) -> Self {
        let project = Project::new(machine);
        project.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        project.git(&["switch", "--quiet", "--create", "topic"]);
        project.takes(nanoseconds);
        project.commit();
        let mut job = Self {
            project,
            values: BTreeMap::new(),
            done: Vec::new(),
        };
        fs::create_dir(job.temporary()).expect("a directory");
        fs::create_dir(job.programs()).expect("a directory");
        // Whatever address the manifest has, there is no release.
        job.with_download("exit 22");
        let temporary = job.temporary().display().to_string();
        for (name, value) in [
            ("github.action_path", env!("CARGO_MANIFEST_DIR")),
            ("github.repository", "somebody/something"),
            ("github.event.pull_request.number", "17"),
            (
                "github.event.pull_request.head.repo.full_name",
                "somebody/something",
            ),
            ("github.token", "secret"),
            ("runner.temp", &temporary),
            ("runner.os", "Linux"),
            ("runner.arch", "X64"),
            ("runner.environment", "github-hosted"),
            ("github.run_id", "23"),
            ("github.run_attempt", "1"),
        ] {
            job.set(name, value);
        }
        let action = document(ACTION);
        let inputs = member(&action, "inputs").and_then(Yaml::as_mapping);
        for (name, input) in inputs.expect("inputs") {
            let name = format!("inputs.{}", name.as_str().expect("a name"));
            let default = member(input, "default").and_then(Yaml::as_str);
            let default = job.substituted(default.expect("a text"));
            job.set(&name, &default);
        }
        job.set("inputs.arguments", ARGUMENTS);
        job
    }

    fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    fn temporary(&self) -> PathBuf {
        self.project.machine.home().join("runner")
    }

    /// Returns the value of a name in an expression, such as `inputs.page`. An output that no step has set is empty. All other names must be known.
    fn value(&self, name: &str) -> String {
        let is_output = name.starts_with("steps.");
        match self.values.get(name) {
            Some(value) => value.clone(),
            None if is_output => String::new(),
            None => panic!("`{name}` stands for nothing"),
        }
    }

    fn substituted(&self, text: &str) -> String {
        let mut parts = text.split("${{");
        let mut result = parts.next().expect("a part").to_owned();
        for part in parts {
            let (name, rest) = part.split_once("}}").expect("an expression ends");
            result += &self.value(name.trim());
            result += rest;
        }
        result
    }

    /// Returns true if the condition of a step holds. A condition consists of comparisons between names and quoted texts, joined by `&&`.
    fn holds(&self, condition: &str) -> bool {
        let condition = condition.trim_start_matches("${{").trim_end_matches("}}");
        condition.split("&&").all(|term| {
            let (sign, is_equal) = if term.contains("!=") {
                ("!=", false)
            } else {
                ("==", true)
            };
            let (left, right) = term.split_once(sign).expect("a comparison");
            let of = |side: &str| match side.trim().strip_prefix('\'') {
                Some(quoted) => quoted.trim_end_matches('\'').to_owned(),
                None => self.value(side.trim()),
            };
            (of(left) == of(right)) == is_equal
        })
    }

    /// Runs the steps of the action up to the first one that fails.
    fn run(mut self) -> (Self, Ended) {
        let action = document(ACTION);
        let steps = member(&action, "runs").and_then(|runs| member(runs, "steps"));
        let mut last = None;
        for step in steps.and_then(Yaml::as_sequence).expect("steps") {
            let text = |name: &str| member(step, name).and_then(Yaml::as_str);
            let id = text("id").expect("each step has one").to_owned();
            if text("if").is_some_and(|condition| !self.holds(condition)) {
                continue;
            }
            self.done.push(id.clone());
            if text("uses").is_some() {
                let options = member(step, "with").and_then(Yaml::as_mapping);
                for (name, value) in options.expect("options") {
                    let name = format!("with.{id}.{}", name.as_str().expect("a name"));
                    let value = self.substituted(value.as_str().expect("a text"));
                    self.set(&name, &value);
                }
                continue;
            }
            let finished = if id == "install" {
                self.install(text("run").expect("a script"))
            } else {
                Some(self.script(step, &id))
            };
            let Some(finished) = finished else {
                continue;
            };
            let failed = finished.code() != 0;
            last = Some(finished);
            if failed {
                break;
            }
        }
        let steps = self.done.clone();
        let last = last.expect("a script");
        (self, Ended { last, steps })
    }

    /// Replaces the installation, which would take minutes: copies the built executable to the place where the script would install it.
    fn install(&self, script: &str) -> Option<Finished> {
        let wanted =
            "cargo install --locked --path \"$ACTION\" --root \"$RUNNER_TEMP/cargo-perfcheck\"";
        assert_eq!(script.trim(), wanted);
        let directory = self.temporary().join("cargo-perfcheck/bin");
        fs::create_dir_all(&directory).expect("a directory");
        let built = env!("CARGO_BIN_EXE_cargo-perfcheck");
        std::os::unix::fs::symlink(built, directory.join("cargo-perfcheck")).expect("a link");
        None
    }

    /// Runs the script of a step as GitHub's runner does, and records the outputs that it sets.
    fn script(&mut self, step: &Yaml<'_>, id: &str) -> Finished {
        let text = |name: &str| member(step, name).and_then(Yaml::as_str);
        assert_eq!(text("shell"), Some("bash"), "{id}");
        let script = text("run").expect("a script");
        // The value of an expression would become part of the script. Passed in a variable, it remains text.
        assert!(!script.contains("${{"), "{script}");
        let machine = self.project.machine;
        let file = self.temporary().join("step.sh");
        fs::write(&file, script).expect("written");
        let output = self.temporary().join("output");
        fs::write(&output, "").expect("written");
        let programs = self.programs();
        let mut command = machine.command("bash");
        let mut variables = command.get_envs();
        let path = variables.find_map(|(name, value)| value.filter(|_| name == "PATH"));
        let path = path
            .and_then(|path| path.to_str())
            .expect("a path")
            .to_owned();
        command
            .args(["--noprofile", "--norc", "-eo", "pipefail"])
            .arg(&file)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("PERFCHECK_STORE", machine.store())
            .env("PERFCHECK_CACHE", machine.cache())
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_WORKFLOW", "benchmarks")
            .env("GITHUB_JOB", "measure")
            .env("GITHUB_OUTPUT", &output)
            .env("GITHUB_ENV", self.temporary().join("env"))
            .env("GITHUB_STEP_SUMMARY", machine.home().join("summary.md"))
            .env("RUNNER_TEMP", self.temporary())
            .env_remove("CARGO_TARGET_DIR");
        let base = self.values.get("github.base_ref");
        command.env("GITHUB_BASE_REF", base.map_or("", String::as_str));
        let directory = text("working-directory").map(|directory| self.substituted(directory));
        let directory = directory.unwrap_or_default();
        command.current_dir(self.project.root().join(directory));
        let variables = member(step, "env").and_then(Yaml::as_mapping);
        for (name, value) in variables.into_iter().flatten() {
            let value = self.substituted(value.as_str().expect("a text"));
            command.env(name.as_str().expect("a name"), value);
        }
        let finished = run(command);
        for line in fs::read_to_string(&output).expect("outputs").lines() {
            let (name, value) = line.split_once('=').expect("NAME=VALUE");
            self.set(&format!("steps.{id}.outputs.{name}"), value);
        }
        finished
    }

    /// Installs a replacement for GitHub's program `gh` that records its calls. `comments` are the existing comments, and `ends` is the exit status
    /// of calls that write.
    fn with_github(&self, comments: &str, ends: u8) -> &Self {
        let directory = self.programs();
        let (calls, answer) = (self.calls(), directory.join("comments.json"));
        fs::write(&answer, comments).expect("written");
        write_program(
            &directory.join("gh"),
            &format!(
                "echo \"$GH_TOKEN $*\" >> '{}'\ncase \"$*\" in *--paginate*) cat '{}' ;; *) exit {ends} ;; esac",
                calls.display(),
                answer.display()
            ),
        );
        self
    }

    /// Installs a replacement for `curl`.
    fn with_download(&self, script: &str) -> &Self {
        write_program(&self.programs().join("curl"), script);
        self
    }

    /// The directory of replaced programs.
    fn programs(&self) -> PathBuf {
        self.project.machine.home().join("programs")
    }

    fn calls(&self) -> PathBuf {
        self.project.machine.home().join("calls")
    }

    fn output(&self, name: &str) -> String {
        let action = document(ACTION);
        let outputs = member(&action, "outputs").expect("outputs");
        let output = member(outputs, name).and_then(|output| member(output, "value"));
        self.substituted(output.and_then(Yaml::as_str).expect("a text"))
    }
}

#[test]
fn a_pull_request_is_measured_beside_its_base_commented_on_and_judged() {
    let machine = Machine::new();
    let mut job = Job::new(&machine, 200);
    job.set("github.base_ref", "main");
    job.set("inputs.comment", "true");
    job.with_github("[]", 0);
    let (job, ended) = job.run();
    let all = [
        "tool", "cache", "builds", "binary", "install", "measure", "kept", "page", "comment",
        "verdict",
    ];
    assert_eq!(ended.steps, all, "{}", ended.last);
    // The regression makes the job fail only at the end, after the comment and the page were written.
    assert_eq!(ended.last.code(), 1, "{}", ended.last);
    assert_eq!(job.output("status"), "1");
    let markdown = fs::read_to_string(job.output("markdown")).expect("a report");
    let marker = "<!-- cargo-perfcheck: benchmarks/measure -->";
    assert!(markdown.starts_with(marker), "{markdown}");
    assert!(markdown.contains("**regressed**"), "{markdown}");
    let summary = fs::read_to_string(machine.home().join("summary.md")).expect("a summary");
    assert!(summary.contains("**regressed**"), "{summary}");
    let page = fs::read_to_string(&job.values["with.page.path"]).expect("a page");
    assert!(page.contains("<html"), "{page}");
    assert_eq!(job.values["with.page.path"], job.output("html"));
    let key = &job.values["with.cache.key"];
    let sources = key.strip_prefix("cargo-perfcheck-Linux-X64-");
    assert_eq!(sources.map(str::len), Some(40), "{key}");
    let installed = Path::new(&job.values["with.cache.path"]).join("bin/cargo-perfcheck");
    assert!(installed.exists());
    // The key under which builds are saved matches the key by which they are restored.
    let kept = &job.values["with.kept.key"];
    let found = &job.values["with.builds.restore-keys"];
    assert!(kept.starts_with(found.as_str()), "{found} {kept}");
    assert_eq!(job.values["with.builds.path"], job.values["with.kept.path"]);
    let calls = fs::read_to_string(job.calls()).expect("calls");
    let place = "repos/somebody/something/issues/17/comments";
    let expected = [
        format!("secret api --paginate {place}"),
        format!(
            "secret api --method POST {place} -F body=@{}",
            job.output("markdown")
        ),
    ];
    assert_eq!(calls.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_comment_that_is_there_is_updated_and_one_that_cannot_be_written_is_a_warning() {
    let machine = Machine::new();
    let mut job = Job::new(&machine, 100);
    job.set("github.base_ref", "main");
    job.set("inputs.page", "false");
    job.set("inputs.comment", "true");
    // A self-hosted runner keeps its directories for the next job, so builds need not be saved elsewhere.
    job.set("runner.environment", "self-hosted");
    let comments = r#"[{"id": 1, "user": {"type": "User"}, "body": "<!-- cargo-perfcheck: benchmarks/measure -->"}, {"id": 2, "user": {"type": "Bot"}, "body": "another"}]
        [{"id": 3, "user": {"type": "Bot"}, "body": "<!-- cargo-perfcheck: benchmarks/measure -->\nold"}]"#;
    job.with_github(comments, 1);
    let (job, ended) = job.run();
    let all = [
        "tool", "cache", "binary", "install", "measure", "comment", "verdict",
    ];
    assert_eq!(ended.steps, all, "{}", ended.last);
    assert_eq!(ended.last.code(), 0, "{}", ended.last);
    let calls = fs::read_to_string(job.calls()).expect("calls");
    let update = "secret api --method PATCH repos/somebody/something/issues/comments/3 -F body=@";
    let last = calls.lines().last().expect("a call");
    assert!(last.starts_with(update), "{calls}");
}

#[test]
fn inputs_say_what_is_left_out_and_what_was_not_measured_has_no_reports() {
    let machine = Machine::new();
    let mut job = Job::new(&machine, 100);
    job.set("inputs.against", "no-such-revision");
    let (job, ended) = job.run();
    let steps = [
        "tool", "cache", "builds", "binary", "install", "measure", "kept", "verdict",
    ];
    assert_eq!(ended.steps, steps, "{}", ended.last);
    assert_eq!(ended.last.code(), 2, "{}", ended.last);
    assert_eq!(
        (job.output("markdown"), job.output("html")),
        Default::default()
    );
}

/// Creates a job whose action lies in a repository with a release. `beside` is what the file `SOURCES` beside its archive contains, for a shell, and
/// `inside` what the one in the archive does; `attested` is the exit status of the check where the archive comes from.
fn job_with_release<'m>(machine: &'m Machine, beside: &str, inside: &str, attested: u8) -> Job<'m> {
    let mut job = Job::new(machine, 100);
    job.set("github.base_ref", "main");
    let action = machine.home().join("action");
    for directory in ["src", "crates", "harness"] {
        fs::create_dir_all(action.join(directory)).expect("a directory");
    }
    let manifest = "version = \"1.2.3\"\nrepository = \"https://github.com/somebody/tool\"\n";
    fs::write(action.join("Cargo.toml"), manifest).expect("written");
    fs::write(action.join("Cargo.lock"), "").expect("written");
    job.set("github.action_path", &action.display().to_string());
    let name = "cargo-perfcheck-v1.2.3-x86_64-unknown-linux-gnu";
    let releases = machine.home().join("releases");
    fs::create_dir_all(releases.join(name)).expect("a directory");
    write_program(
        &releases.join(name).join("cargo-perfcheck"),
        &format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_cargo-perfcheck")),
    );
    job.with_download(&format!(
        "while [ $# -gt 1 ]; do [ \"$1\" = --output ] && file=$2; shift; done\ncase \"$1\" in\n\
         https://github.com/somebody/tool/releases/download/v1.2.3/SOURCES) echo \"{beside}\" > \"$file\" ;;\n\
         https://github.com/somebody/tool/releases/download/v1.2.3/{name}.tar.gz)\n\
         echo \"{inside}\" > '{0}/{name}/SOURCES'; tar -C '{0}' -czf \"$file\" {name} ;;\n\
         *) exit 22 ;;\nesac",
        releases.display()
    ));
    job.with_github("[]", attested);
    job
}

#[test]
fn the_program_of_a_release_is_used_if_it_has_these_sources_and_comes_from_this_repository() {
    for (beside, inside, attested, is_used) in [
        ("$SOURCES", "$SOURCES", 0, true),
        ("$SOURCES", "$SOURCES", 1, false),
        ("$SOURCES", "another", 0, false),
        ("another", "$SOURCES", 0, false),
    ] {
        let machine = Machine::new();
        let (job, ended) = job_with_release(&machine, beside, inside, attested).run();
        assert_eq!(ended.last.code(), 0, "{}", ended.last);
        let is_compiled = ended.steps.iter().any(|step| step == "install");
        assert_eq!(is_compiled, !is_used, "{:?}", ended.steps);
        let calls = fs::read_to_string(job.calls()).unwrap_or_default();
        // What is not from these sources is not even fetched.
        let origin =
            "--repo somebody/tool --signer-workflow somebody/tool/.github/workflows/release.yml";
        let is_checked = calls.ends_with(&format!(".tar.gz {origin}\n"));
        assert_eq!(is_checked, beside == "$SOURCES", "{calls}");
    }
}

#[test]
fn outside_of_a_pull_request_the_revision_has_to_be_named() {
    let machine = Machine::new();
    let job = Job::new(&machine, 100);
    let (_, ended) = job.run();
    assert_eq!(ended.steps.last().map(String::as_str), Some("measure"));
    assert_eq!(ended.last.code(), 2, "{}", ended.last);
    let said = &ended.last.stdout;
    assert!(
        said.starts_with("::error::There is no pull request"),
        "{said}"
    );
}

#[test]
fn a_comment_has_to_be_asked_for_and_a_pull_request_from_a_fork_gets_none() {
    let machine = Machine::new();
    let mut job = Job::new(&machine, 100);
    job.set("github.base_ref", "main");
    job.set("steps.measure.outputs.markdown", "report.md");
    let action = document(ACTION);
    let steps = member(&action, "runs").and_then(|runs| member(runs, "steps"));
    let mut steps = steps.and_then(Yaml::as_sequence).expect("steps").iter();
    let comment = steps.find(|step| member(step, "id").and_then(Yaml::as_str) == Some("comment"));
    let condition = comment
        .and_then(|step| member(step, "if")?.as_str())
        .expect("a condition");
    assert!(!job.holds(condition));
    job.set("inputs.comment", "true");
    assert!(job.holds(condition));
    job.set(
        "github.event.pull_request.head.repo.full_name",
        "other/something",
    );
    assert!(!job.holds(condition));
}

#[test]
fn its_commands_parse_and_the_actions_that_it_uses_exist() {
    assert_eq!(commands_in(ACTION).len(), 1);
}
