//! Two measurements at once on one machine: the later one waits for the other.

use rustix::process::Signal;
use std::fs::{self, File};

use crate::against::stopping::{statuses, waiting};
use crate::commands::scripted::{CLOCK, steady, stored, verdict};
use crate::support::{Machine, Perfcheck};

/// Takes the lock that only one measurement at a time can hold, as another process would.
fn held(machine: &Machine) -> File {
    fs::create_dir_all(machine.cache()).expect("a directory");
    let lock = File::create(machine.cache().join("measuring.lock")).expect("a file");
    lock.lock().expect("nobody else has it");
    lock
}

/// Prepares a run of testbench/steady.
fn plain(machine: &Machine) -> Perfcheck {
    steady(machine, &[])
}

/// Prepares the self-test with known slowdowns.
fn self_test(machine: &Machine) -> Perfcheck {
    let words = ["doctor", "--self-test", "arithmetic", "--trials", "1"];
    let test = stored(machine, &words).args(["-p", "steady"]);
    test.env(CLOCK, "arithmetic=100")
}

#[test]
fn a_run_waits_for_one_that_measures_and_names_its_process() {
    let machine = Machine::new();
    let (project, running) = waiting(&machine);
    let said = format!(
        "     Waiting for the run of process {} to end: two measurements at the same time disturb each other\n",
        running.id()
    );
    let measure = || {
        let mut run = project.measure(&["--against", "HEAD"]).start();
        run.wait_for_stderr(&said);
        run
    };
    let impatient = measure();
    impatient.signal(Signal::INT);
    let impatient = impatient.finish().expect_code(130);
    assert!(
        impatient.stderr.ends_with("error: interrupted\n"),
        "{impatient}"
    );
    assert_eq!(statuses(&project).len(), 2, "it has begun no run");
    let patient = measure();
    fs::write(machine.home().join("go"), "").expect("written");
    for run in [running, patient] {
        let run = run.finish().expect_code(1);
        assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
        assert_eq!(
            run.stderr.matches("Waiting").count(),
            usize::from(run.stderr.contains(&said))
        );
    }
    assert_eq!(statuses(&project), ["complete"; 4]);
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn whatever_measures_waits_and_what_reads_does_not() {
    let machine = Machine::new();
    let lock = held(&machine);
    let said =
        "Waiting for another run to end: two measurements at the same time disturb each other\n";
    for measure in [plain, self_test] {
        let mut impatient = measure(&machine).start();
        impatient.wait_for_stderr(said);
        impatient.signal_group(Signal::INT);
        let impatient = impatient.finish().expect_code(130);
        assert_eq!(impatient.stdout, "");
    }
    let words = ["store", "runs", "--message-format", "json"];
    let runs = stored(&machine, &words).run().expect_code(0);
    assert_eq!(runs.messages("run").len(), 0, "{runs}");
    for measure in [plain, self_test] {
        let mut patient = measure(&machine).start();
        patient.wait_for_stderr(said);
        lock.unlock().expect("unlocked");
        patient.finish().expect_code(0);
        lock.lock().expect("it was given back");
        lock.set_len(0).expect("its number is gone");
    }
    stored(&machine, &["show", "1"]).run().expect_code(0);
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn without_a_place_for_the_lock_a_run_measures_all_the_same() {
    let machine = Machine::new();
    fs::write(machine.cache(), "no directory").expect("written");
    plain(&machine).run().expect_code(0);
    fs::remove_file(machine.cache()).expect("there");
    fs::create_dir_all(machine.cache().join("measuring.lock")).expect("a directory");
    plain(&machine).run().expect_code(0);
}
