//! `cargo perfcheck report`: a page about a run or about two that are compared, and where it goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::options::StoreOptions;
use super::page::Subject;
use super::whole_file::write_whole;
use crate::exit_code::ExitCode;
use crate::host;
use crate::report::{write_page, write_page_place, write_warning};

/// The file of a page in a directory.
const INDEX: &str = "index.html";

/// Which page, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOptions {
    /// No run: the latest; one; or a reference and what is compared with it.
    pub runs: Vec<String>,
    /// A file, a directory, or `-`.
    pub html: Option<PathBuf>,
    /// Open it in the user's browser.
    pub open: bool,
}

/// Runs the command.
pub fn report(
    options: &PageOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let to_stdout = options.html.as_deref() == Some(Path::new("-"));
    match (&options.html, options.open) {
        (None, false) => {
            return Err(AppError::Usage(
                "a report needs a place\n  help: `--html report.html` writes a page there, `--html public/` writes public/index.html, `--open` shows it in the browser"
                    .to_owned(),
            ));
        }
        (Some(_), true) if to_stdout => {
            return Err(AppError::Usage(
                "a page on stdout cannot be opened\n  help: name a file: --html report.html --open"
                    .to_owned(),
            ));
        }
        _ => {}
    }
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let resolved = |word: &String| resolve_run(&store, workspace, word);
    let latest = "latest".to_owned();
    let subject = match &options.runs[..] {
        [] => Subject::of_run(&store, workspace, &context, resolved(&latest)?)?,
        [run] => Subject::of_run(&store, workspace, &context, resolved(run)?)?,
        [base, candidate] => Subject::of_two(&store, workspace, &context, [base, candidate])?,
        [_, _, ..] => {
            return Err(AppError::Usage(
                "a page is about one run, or about two\n  help: `cargo perfcheck compare` sets more of them side by side"
                    .to_owned(),
            ));
        }
    };
    let gathered = subject.gather(&store, workspace)?;
    let page = gathered.page(name_of(&context));
    if to_stdout {
        write_page(world.stdout, &page)?;
        return Ok(ExitCode::Clean);
    }
    let file = match &options.html {
        Some(place) => file_at(place)?,
        None => host::temporary_page()?,
    };
    let mut text = Vec::new();
    write_page(&mut text, &page)?;
    write_whole(&file, &text)?;
    if !common.output.quiet {
        write_page_place(
            world.stdout,
            &page,
            &file.display().to_string(),
            text.len(),
            common.output.format,
        )?;
    }
    if options.open
        && let Err(error) = host::open_in_viewer(&file)
    {
        write_warning(
            world.stderr,
            &format!(
                "the page could not be opened: {error}\n  help: open {} in a browser",
                file.display()
            ),
        )?;
    }
    Ok(ExitCode::Clean)
}

/// What a page calls the workspace. Pages are sent to others, whom the rest of the path does not concern.
pub(super) fn name_of(context: &Context) -> String {
    let root = context.workspace.root();
    let name = root.file_name().unwrap_or(root.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Whether a place is meant as a directory.
pub(super) fn is_directory(place: &Path) -> bool {
    let text = place.as_os_str().to_string_lossy();
    text.ends_with(std::path::is_separator) || place.is_dir()
}

/// The file that a place stands for: of a directory, which is made where it is said to be one, its index.
pub(super) fn file_at(place: &Path) -> io::Result<PathBuf> {
    let about =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.display()));
    if !is_directory(place) {
        return Ok(place.to_owned());
    }
    fs::create_dir_all(place).map_err(about)?;
    Ok(place.join(INDEX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_gets_an_index_and_a_file_is_taken_as_it_is() {
        let here = tempfile::tempdir().expect("a directory");
        let place = |name: &str| file_at(&here.path().join(name)).expect("a place");
        assert_eq!(place("page.html"), here.path().join("page.html"));
        let made = place("a/b/");
        assert!(made.ends_with("a/b/index.html") && here.path().join("a/b").is_dir());
        assert!(place("a").ends_with("a/index.html"));
    }
}
