//! What the programs do. The first argument says what.

use std::fs::File;
use std::io::{IsTerminal, Read, Write, stdin, stdout};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Does what the arguments of this process say.
pub fn act() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["prints"] => println!("a line"),
        ["reads"] => assert_eq!(read_input(), "the input\n"),
        ["reads nothing"] => assert_eq!(read_input(), ""),
        ["writes", bytes] => write(bytes.parse().expect("a number")),
        ["leaves a child"] => {
            let child = Command::new("sleep").arg("1000").spawn();
            println!("left {}", u8::from(child.is_ok()));
        }
        ["fails", status] => {
            eprintln!("nothing was found");
            return ExitCode::from(status.parse::<u8>().expect("a number"));
        }
        ["opens", path] => {
            if let Err(error) = File::open(path) {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        }
        ["wants a terminal"] => {
            if !stdin().is_terminal() {
                eprintln!("standard input is no terminal");
                return ExitCode::FAILURE;
            }
        }
        ["aborts"] => std::process::abort(),
        ["panics"] => panic!("as planned"),
        ["hangs"] => std::thread::sleep(Duration::from_secs(900)),
        _ => return ExitCode::from(99),
    }
    ExitCode::SUCCESS
}

fn read_input() -> String {
    let mut text = String::new();
    stdin().read_to_string(&mut text).expect("readable");
    text
}

fn write(bytes: usize) {
    let piece = vec![b'x'; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(piece.len());
        stdout().write_all(&piece[..length]).expect("written");
        left -= length;
    }
}
