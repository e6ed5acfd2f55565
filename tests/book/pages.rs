//! Reads README and the chapters of both books, with their code blocks and command lines.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The chapters of the guide, except commands.md, which is generated.
const GUIDE: [&str; 17] = [
    "index",
    "quick-start",
    "coming-from",
    "writing",
    "programs",
    "comparing",
    "results",
    "noise",
    "stored-runs",
    "teams",
    "limits",
    "ci",
    "configuration",
    "files",
    "stability",
    "troubleshooting",
    "glossary",
];

/// The chapters of the book on the internals that have commands to copy.
const INTERNALS: [&str; 5] = ["exchange", "methods", "store", "tables", "workflows"];

/// A page of the repository.
pub struct Page {
    pub path: PathBuf,
    pub text: String,
}

/// A fenced code block of a page.
pub struct Block<'p> {
    pub language: &'p str,
    pub code: &'p str,
    /// The text of the comment directly before the block, such as `run: FIXTURE`.
    pub mark: Option<&'p str>,
}

impl Page {
    pub fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let text = fs::read_to_string(&path).expect(name);
        Self { path, text }
    }

    pub fn chapter(name: &str) -> Self {
        let book = if INTERNALS.contains(&name) {
            "internals"
        } else {
            "guide"
        };
        Self::read(&format!("docs/{book}/src/{name}.md"))
    }

    /// Returns README and the chapters with commands to copy.
    pub fn all() -> Vec<Self> {
        let chapters = GUIDE.iter().chain(&INTERNALS);
        let chapters = chapters.map(|name| Self::chapter(name));
        std::iter::once(Self::read("README.md"))
            .chain(chapters)
            .collect()
    }

    pub fn blocks(&self) -> Vec<Block<'_>> {
        let mut found = Vec::new();
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once("\n```") {
            let (language, after) = after.split_once('\n').expect("a line");
            let (code, after) = after.split_once("```").expect("a fence ends");
            let mark = before.trim_end().rsplit('\n').next().unwrap_or_default();
            let mark = mark
                .strip_prefix("<!-- ")
                .and_then(|mark| mark.strip_suffix(" -->"));
            found.push(Block {
                language,
                code,
                mark,
            });
            rest = after;
        }
        found
    }

    /// Returns every command line of the tool on the page: those in code blocks, with or without `$`, and complete ones within sentences.
    pub fn command_lines(&self) -> Vec<String> {
        let mut found = Vec::new();
        for block in self.blocks() {
            let shown = ["console", "sh"].contains(&block.language);
            // Marked blocks are run by another test, and may show commands that fail.
            if shown && block.mark.is_none() {
                let code = block.code.replace("\\\n", "");
                let lines = code
                    .lines()
                    .map(|line| line.trim_start_matches("$ ").trim());
                found.extend(lines.map(str::to_owned));
            }
        }
        let fenced = |text: &str| text.split("\n```").step_by(2).collect::<String>();
        let prose = fenced(&self.text);
        let within = prose.split('`').skip(1).step_by(2);
        found.extend(
            within
                .filter(|part| !part.contains("...") && !part.contains('\n'))
                .map(str::to_owned),
        );
        found.retain(|line| without_variables(line).starts_with("cargo perfcheck "));
        found
    }
}

/// Returns a command line without the environment variables that it sets.
fn without_variables(mut line: &str) -> &str {
    while let Some((first, rest)) = line.split_once(' ') {
        if !first.contains('=') {
            break;
        }
        line = rest;
    }
    line
}

/// Returns the words of a simple shell command, up to `|`, `;` or `>`. Comments and assignments before the command are left out. A variable such as
/// `$NAME` is replaced by 1, which is valid as a name and as a number.
pub fn words(line: &str) -> Vec<OsString> {
    let mut words: Vec<String> = vec![String::new()];
    let mut quote = None;
    let mut rest = without_variables(line).trim().chars().peekable();
    while let Some(c) = rest.next() {
        let is_name = |c: &char| c.is_ascii_uppercase() || *c == '_';
        if c == '$' && quote != Some('\'') && rest.next_if(is_name).is_some() {
            while rest.next_if(is_name).is_some() {}
            words.last_mut().expect("there is one").push('1');
            continue;
        }
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '|' | ';' | '>') => break,
            (None, '#') if words.last().is_some_and(String::is_empty) => break,
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().expect("there is one").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words.into_iter().map(OsString::from).collect()
}
