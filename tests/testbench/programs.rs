//! Programs that are measured by running them: the crate `programs` of the testbench.

use crate::support::Machine;
use crate::testbench::situation::Situation;

fn programs(target: &'static str) -> Situation {
    Situation::of("programs", target).in_workspace("programs")
}

#[test]
fn programs_that_read_write_and_leave_children_are_measured() {
    programs("program:acts")
        .measured([
            "prints",
            "reads",
            "reads nothing",
            "writes a gigabyte",
            "leaves a child",
            "finds nothing",
        ])
        .check();
}

#[test]
fn each_way_to_fail_is_explained() {
    programs("program:fails")
        .failed("fails", "the program ended with exit status 3; its output: `nothing was found`\n  help: if this is its usual status, add `exit = 3`")
        .failed("lacks a file", "the program ended with exit status 2; its output: `absent.txt: No such file or directory")
        .failed("lacks its input", "cannot read its input `absent.txt`: No such file or directory")
        .failed("is not prepared", "its `prepare` command `no-such-command-here` could not be started: No such file or directory")
        .failed("wants a terminal", "the program ended with exit status 1; its output: `standard input is no terminal`")
        .failed("aborts", "the program ended with signal 6 (SIGABRT)")
        .failed("panics", "its output: `panicked at src/lib.rs:")
        .check();
}

#[test]
fn a_program_that_hangs_is_ended_at_the_deadline() {
    programs("program:hangs")
        .timeout("0.3s")
        .failed(
            "hangs",
            "the program did not end within 0.3 s\n  help: if it takes that long, raise `--timeout`",
        )
        .check();
}

#[test]
fn a_program_is_named_by_its_entry_or_by_a_command_line() {
    let machine = Machine::new();
    let list = |words: &[&str]| {
        let command = machine.perfcheck().arg("list").testbench("programs");
        command.args(words).run()
    };
    let listed = list(&["--program", "prints", "--program", "acts 'reads nothing' "]);
    let listed = listed.expect_code(0).stdout;
    assert_eq!(
        listed,
        "programs/program:acts: prints\nprograms/program:acts: acts 'reads nothing'\n"
    );
    let all = list(&[]).expect_code(0).stdout;
    assert_eq!(all.lines().count(), 14, "{all}");
    list(&["--program", "acst prints"])
        .expect_code(2)
        .expect_stderr(&["error: the selected packages have no binary `acst`, and Cargo.toml has no program `acst prints`; the binaries are: acts, fails, hangs"]);
    list(&["--program", "acts 'prints"])
        .expect_code(2)
        .expect_stderr(&[
            "error: cannot read the command line `acts 'prints`: a quote (') is not closed",
        ]);
    // The name of another target selects no program.
    list(&["--bench", "prints"])
        .expect_code(2)
        .expect_stderr(&["error: there is no bench target `prints` in the selected packages"]);
}
