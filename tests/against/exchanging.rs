//! `store export` and `store import` of a side-by-side measurement: both runs are transferred together, with their conclusion.

use crate::against::project::Project;
use crate::support::Machine;

#[test]
fn both_sides_of_a_pair_are_exported_and_the_import_tells_the_same_of_them() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(200);
    project.measure(&["--against", "HEAD"]).run().expect_code(1);
    let file = machine.home().join("pair.jsonl");
    let at = |words: &[&str]| machine.perfcheck().args(words).current_dir(project.root());
    // The command names only the candidate; its base is exported with it.
    at(&["store", "export", "1"])
        .arg("--output")
        .arg(&file)
        .run()
        .expect_code(0);
    let store = machine.home().join("elsewhere.db");
    let there = |words: &[&str]| at(words).arg("--store").arg(&store);
    let imported = there(&["store", "import", "--message-format", "json"])
        .arg(&file)
        .run()
        .expect_code(0);
    assert_eq!(imported.messages("run-imported").len(), 2, "{imported}");
    for words in [
        &["compare", "1/base", "1"][..],
        &["explain", "cost", "--run=1"],
    ] {
        let (first, second) = (at(words).run(), there(words).run());
        // The commands that the second output recommends name the other store with `--store`. Everything else is the same.
        let place = format!(" --store {}", store.display());
        assert_eq!(first.stdout, second.stdout.replace(&place, ""));
        assert_eq!(first.code(), second.code());
        assert!(first.stdout.contains("cost"), "{first}");
    }
    let back = machine.home().join("back.jsonl");
    there(&["store", "export", "1/base"])
        .arg("--output")
        .arg(&back)
        .run()
        .expect_code(0);
    let read = |path| std::fs::read_to_string(path).expect("a file of our own");
    assert_eq!(read(&file), read(&back));
    let again = there(&["store", "import"]).arg(&file).run().expect_code(0);
    assert_eq!(
        again.stdout.matches("already here as run").count(),
        2,
        "{again}"
    );
}
