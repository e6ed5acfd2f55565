//! Runs two commands in turn and prints the medians of their wall times and the ratio.
//!
//! `analysis-cost REPETITIONS COMMAND... -- COMMAND...`. The time is that of the whole process, its start and end included, for both alike.

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (repetitions, commands) = arguments.split_first().ok_or("how many repetitions?")?;
    let repetitions: usize = repetitions.parse()?;
    let commands: Vec<&[String]> = commands.split(|word| word == "--").collect();
    let [first, second] = commands[..] else {
        return Err("two commands, separated by `--`".into());
    };
    // Once beforehand, so that both are in the page cache.
    run_ms(first)?;
    run_ms(second)?;
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for repetition in 0..repetitions {
        // In turn, and the first one first only every other time.
        if repetition % 2 == 0 {
            one.push(run_ms(first)?);
            other.push(run_ms(second)?);
        } else {
            other.push(run_ms(second)?);
            one.push(run_ms(first)?);
        }
    }
    let medians = [median(&mut one), median(&mut other)];
    println!("criterion {:9.2} ms   {one:.1?}", medians[0]);
    println!("perfcheck {:9.2} ms   {other:.1?}", medians[1]);
    println!("ratio     {:9.1}", medians[0] / medians[1]);
    Ok(())
}

fn run_ms(command: &[String]) -> Result<f64, Box<dyn Error>> {
    let (program, arguments) = command.split_first().ok_or("an empty command")?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let elapsed = start.elapsed();
    if !status.success() {
        return Err(format!("{program}: {status}").into());
    }
    Ok(elapsed.as_secs_f64() * 1e3)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let last = times.len() - 1;
    f64::midpoint(times[last / 2], times[times.len() / 2])
}
