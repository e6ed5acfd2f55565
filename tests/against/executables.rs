//! `--against-executable` with an earlier build, and with paths that are not bench executables.

use std::fs;
use std::path::PathBuf;

use crate::against::project::{Project, compared, remarks};
use crate::commands::scripted::{finish, verdict};
use crate::support::Machine;

/// Builds the bench target `costs` with cargo and moves the executable away.
fn earlier_build(project: &Project<'_>) -> PathBuf {
    let mut command = project.machine.command(env!("CARGO"));
    command
        .args(["bench", "--no-run", "--offline", "--message-format", "json"])
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(project.root());
    let built = crate::support::run(command).expect_code(0);
    let executable = built
        .json()
        .iter()
        .filter(|message| message["target"]["name"] == "costs")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("an executable");
    let taken = project.machine.home().join("costs-earlier");
    fs::copy(executable, &taken).expect("copied");
    taken
}

#[test]
fn an_earlier_build_is_measured_against_the_work_tree() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let executable = earlier_build(&project);
    let path = executable.to_str().expect("text");
    let same = project
        .measure(&["--against-executable", path])
        .run()
        .expect_code(0);
    assert_eq!(verdict(&same, "cost"), "unchanged", "{same}");
    assert!(compared(&same, "cost")["seconds"].is_null(), "{same}");
    project.takes(200);
    let run = project
        .measure(&["--against-executable", path])
        .run()
        .expect_code(1);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert_eq!(verdict(&run, "constant"), "unchanged", "{run}");
    assert_eq!(compared(&run, "cost")["decided_by"], "paired");
    let reference = finish(&run)["reference"].to_string();
    assert!(reference.contains("costs-earlier"), "{reference}");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_path_that_leads_nowhere_or_to_what_speaks_no_protocol_is_an_error_that_names_it() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project
        .measure(&["--against-executable", "no/such/file"])
        .run()
        .expect_code(2)
        .expect_stderr(&["error: ", "no/such/file"]);
    let mute = machine.home().join("costs-mute");
    fs::copy("/bin/true", &mute).expect("copied");
    let run = project
        .measure(&["--against-executable", mute.to_str().expect("text")])
        .run()
        .expect_code(6)
        .expect_stderr(&["error: ", "not a supported benchmark executable"]);
    for id in ["cost", "constant"] {
        assert_eq!(verdict(&run, id), "new", "{run}");
        assert!(remarks(&run, id).contains("the reference's bench target"));
    }
    let text = project.root().join("src/lib.rs");
    let run = project
        .measure(&["--against-executable", text.to_str().expect("text")])
        .run();
    assert!([2, 6].contains(&run.code()), "{run}");
    assert!(run.stderr.contains("error: "), "{run}");
    assert_eq!(machine.left_behind(), [""; 0]);
}
