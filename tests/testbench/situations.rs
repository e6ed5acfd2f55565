use crate::support::Machine;

#[test]
fn smoke() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args([
            "-p",
            "steady",
            "--launches",
            "2",
            "--message-format",
            "json",
            "--measurement-time",
            "20ms",
        ])
        .run()
        .expect_code(0);
    assert_eq!(run.messages("benchmark-measured").len(), 3);
    assert_eq!(machine.left_behind(), Vec::<String>::new());
}
