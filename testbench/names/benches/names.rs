//! Ids that are hard to send, store, show and select.

use perfcheck::{Suite, black_box};

const NAMES: [&str; 28] = [
    "plain",
    "with spaces",
    " spaces around ",
    "two  spaces",
    "quo\"te's `and` backtick",
    "back\\slash",
    "backslash and n: \\n",
    "line\nfeed",
    "carriage\rreturn",
    "tab\tulator",
    "größe/日本語/ελληνικά",
    "مرحبا/עברית",
    "🦀🚀/👩‍👩‍👧‍👦",
    "composed é",
    "composed e\u{301}",
    "\u{202e}right to left",
    "escape \u{1b}[31mred\u{1b}[0m",
    "null \0 byte",
    "*?[a-z]{1,2}$(x)",
    "--bench",
    "..",
    "a//b/",
    "Case",
    "case",
    r"C:\dir\file",
    r#"{"type":"bye"}"#,
    "%s %n {} {0}",
    "<b>&amp;</b>",
];

fn names(suite: &mut Suite) {
    for name in NAMES {
        suite.bench(name, |b| b.iter(|| black_box(1) + 1));
    }
    suite.bench("x".repeat(300), |b| b.iter(|| black_box(1) + 1));
    suite.bench("長".repeat(300), |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(names);
