//! The index page of a branch: a list of its runs, each with a link to its own page.

use std::io::{self, Write};

use crate::output::messages::RunLine;
use crate::sanitize::{html, one_line};
use perfcheck_analysis::model::RunId;

const STYLE: &str = include_str!("assets/run_index.css");

/// SHA-256 hash of [`STYLE`]. The policy allows this style and nothing else. If a test finds a mismatch, it prints the new hash.
const STYLE_HASH: &str = "sha256-30h3uGE2PmXAb/yg9l7h7qk8ae8e87xjVzKY2ssQ4wc=";

/// Returns the name of the file for a run's page, which is in the same folder as the index.
pub fn page_file_name(run: RunId) -> String {
    format!("run-{run}.html")
}

/// Writes the index of `lines`, newest first. `title` is a name for these runs.
pub fn write_run_index(writer: &mut dyn Write, title: &str, lines: &[RunLine]) -> io::Result<()> {
    let title = html(&one_line(title));
    write!(
        writer,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"cargo-perfcheck {}\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<div class=\"wide\">\n<table>\n<thead><tr>",
        env!("CARGO_PKG_VERSION"),
    )?;
    for heading in ["Run", "Began", "Commit", "Baselines", "Verdicts"] {
        write!(writer, "<th scope=\"col\">{heading}</th>")?;
    }
    writeln!(writer, "</tr></thead>\n<tbody>")?;
    for line in lines {
        write_run(writer, line)?;
    }
    writeln!(writer, "</tbody>\n</table>\n</div>\n</body>\n</html>")
}

fn write_run(writer: &mut dyn Write, line: &RunLine) -> io::Result<()> {
    let run = line.run.id;
    let began = html(&line.started);
    let commit = line.run.begun.git.as_ref().map_or_else(String::new, |git| {
        let changes = if git.dirty { ", modified" } else { "" };
        let short: String = git.commit.chars().take(12).collect();
        format!("<code>{}</code>{changes}", html(&short))
    });
    write!(
        writer,
        "<tr><th scope=\"row\"><a href=\"{}\">{run}</a></th><td><time datetime=\"{began}\">{began}</time></td><td>{commit}</td><td>{}</td><td>",
        page_file_name(run),
        html(&one_line(&line.names.join(", "))),
    )?;
    for (at, (verdict, count)) in line.tally.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let word = verdict.word();
        write!(
            writer,
            "{comma}<span class=\"{word}\">{count} {word}</span>"
        )?;
    }
    writeln!(writer, "</td></tr>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::page::style_hash::csp_hash;

    #[test]
    fn the_policy_allows_the_style_that_is_there() {
        assert_eq!(STYLE_HASH, csp_hash(STYLE), "write this into STYLE_HASH");
        assert!(!STYLE.contains("</style"));
    }
}
