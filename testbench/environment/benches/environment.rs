//! Appends its arguments, working directory and environment to the file that `ENVIRONMENT_DUMP` names, one JSON object per line.
//!
//! A test compares the lines of `cargo bench` with those of `cargo perfcheck`.

use perfcheck::{Suite, black_box};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;

fn environment(suite: &mut Suite) {
    suite.bench("dump", |b| {
        if let Some(path) = std::env::var_os("ENVIRONMENT_DUMP") {
            let mut file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .expect("ENVIRONMENT_DUMP names a writable file");
            // Write the line in one call, so that the lines of two processes do not mix.
            file.write_all(dump().as_bytes())
                .expect("the dump is written");
        }
        b.iter(|| black_box(1) + 1);
    });
}

/// Returns `{"argv":[...],"cwd":"...","env":{...},"compiled":{...}}` and a newline. `env` is sorted by name.
fn dump() -> String {
    let argv: Vec<String> = std::env::args_os()
        .map(|argument| quoted(&argument))
        .collect();
    let cwd = std::env::current_dir().expect("there is a working directory");
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    variables.sort();
    let env: Vec<String> = variables
        .iter()
        .map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)))
        .collect();
    // Values that cargo gave to the compiler. The process may not get them.
    let compiled = format!(
        r#""ENVIRONMENT_FROM_BUILD":{},"OUT_DIR":{},"CARGO_BIN_EXE_environment":{}"#,
        quoted(env!("ENVIRONMENT_FROM_BUILD").as_ref()),
        quoted(env!("OUT_DIR").as_ref()),
        quoted(env!("CARGO_BIN_EXE_environment").as_ref()),
    );
    format!(
        "{{\"argv\":[{}],\"cwd\":{},\"env\":{{{}}},\"compiled\":{{{compiled}}}}}\n",
        argv.join(","),
        quoted(cwd.as_os_str()),
        env.join(","),
    )
}

fn quoted(text: &std::ffi::OsStr) -> String {
    let mut json = String::from('"');
    for character in text.to_string_lossy().chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

perfcheck::main!(environment);
