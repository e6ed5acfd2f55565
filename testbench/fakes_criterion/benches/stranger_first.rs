//! A process outside the bench finds the runner's port and connects first. The runner must ignore it.

use fakes_criterion::{Runner, connect, greeted};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Environment variable that makes this executable act as the process outside the bench.
const STRANGER: &str = "FAKES_CRITERION_STRANGER";

fn main() {
    if std::env::var_os(STRANGER).is_some() {
        let mut runner = Runner(connect());
        println!("connected");
        let greeted = runner.0.read(&mut [0; 18]);
        assert!(!matches!(greeted, Ok(1..)), "a stranger was greeted");
        return;
    }
    let stranger = Command::new(std::env::current_exe().expect("it runs"))
        .env(STRANGER, "1")
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn();
    let mut stranger = stranger.expect("a stranger");
    let mut connected = [0; 9];
    let stdout = stranger.stdout.as_mut().expect("it is piped");
    stdout.read_exact(&mut connected).expect("it connects");
    let mut runner = greeted();
    assert!(stranger.wait().expect("it ends").success());
    runner.measure("ours");
}
