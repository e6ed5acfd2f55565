//! `cargo perfcheck store import FILE...`: turns measurements of other programs, or of this one elsewhere, into ordinary runs. Detects the format of
//! the files.

mod foreign;
mod options;
mod portable;
mod record;

pub use self::options::ImportOptions;

use std::io;
use std::path::{Path, PathBuf};

use crate::error::AppError;
use crate::interchange::{ExchangeError, FileFormat, ForeignInput, InputContent, detect, read};
use crate::options::CommonOptions;
use crate::output::write_build_event;
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::SampleFilter;
use perfcheck_store::check_baseline_name;

/// Carries out `cargo perfcheck store import`.
pub fn import(
    options: &ImportOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(name) = &options.save_baseline {
        check_baseline_name(name)?;
    }
    let mut context = Context::load(common, world)?;
    if !options.dry_run {
        context = context.for_writing();
    }
    let is_tree = |path: &PathBuf| path != Path::new("-") && path.is_dir();
    let trees = options.files.iter().filter(|path| is_tree(path)).count();
    if options.format == Some(FileFormat::Criterion) || trees == options.files.len() {
        let explicit = options.format;
        if let Some(other) = explicit.filter(|format| *format != FileFormat::Criterion) {
            return Err(AppError::Usage(format!(
                "{} is a directory, but `--format {}` needs a file",
                options.files[0].display(),
                other.name()
            )));
        }
        refuse_flags(options, FileFormat::Criterion)?;
        let requested = ForeignInput::Trees(&options.files);
        return foreign::import_foreign(
            &requested,
            FileFormat::Criterion,
            options,
            &context,
            common,
            world,
        );
    }
    if let Some(tree) = options.files.iter().find(|path| is_tree(path)) {
        return Err(AppError::Usage(format!(
            "{} is a directory, but other inputs are files\n  help: import directories and files separately",
            tree.display()
        )));
    }
    // An interrupt may end the program here, because reading a pipe blocks until the other program writes.
    let interrupt = world.interrupt;
    let files = interrupt.while_computing("", || read_files(&options.files))?;
    let format = match options.format {
        Some(format) => format,
        None if !options.columns.is_empty() => FileFormat::Csv,
        None => {
            let format = detect_format(&files)?;
            if !common.output.quiet {
                let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
                let text = format!("{} as `--format {}`", names.join(", "), format.name());
                write_build_event(world.stderr, "Reading", &text)?;
            }
            format
        }
    };
    refuse_flags(options, format)?;
    match format {
        FileFormat::Csv => foreign::import_table(&files, options, &context, common, world),
        FileFormat::Portable => portable::import_portable(&files, options, &context, common, world),
        _ => {
            let requested = ForeignInput::Files(&files, format);
            foreign::import_foreign(&requested, format, options, &context, common, world)
        }
    }
}

fn read_files(paths: &[PathBuf]) -> Result<Vec<InputContent>, AppError> {
    let dashes = paths.iter().filter(|path| **path == Path::new("-")).count();
    if dashes > 1 {
        return Err(AppError::Usage(
            "`-` (stdin) can be given only once".to_owned(),
        ));
    }
    let mut files: Vec<InputContent> = Vec::new();
    for path in paths {
        let content = read(path, &mut io::stdin().lock())?;
        if let Some(same) = files.iter().find(|file| file.blake3 == content.blake3) {
            return Err(AppError::Usage(format!(
                "{} and {} have the same content: import each session only once",
                same.name, content.name
            )));
        }
        files.push(content);
    }
    Ok(files)
}

/// Detects the common format of all files.
fn detect_format(files: &[InputContent]) -> Result<FileFormat, ExchangeError> {
    let mut found: Option<(&InputContent, FileFormat)> = None;
    for file in files {
        let format = detect(file)?;
        match found {
            Some((first, other)) if other != format => {
                return Err(ExchangeError::SeveralFormats {
                    first: first.name.clone(),
                    first_format: other.name(),
                    second: file.name.clone(),
                    second_format: format.name(),
                });
            }
            _ => found = Some((file, format)),
        }
    }
    found
        .map(|(_, format)| format)
        .ok_or_else(|| ExchangeError::UnknownFormat(String::new()))
}

/// Refuses flags that have no effect on this format.
fn refuse_flags(options: &ImportOptions, format: FileFormat) -> Result<(), AppError> {
    let is_table = format == FileFormat::Csv;
    let is_ours = format == FileFormat::Portable;
    if is_table && options.columns.is_empty() {
        return Err(AppError::Usage(
            "a CSV table needs a column map\n  help: use e.g. `--columns id=NAME,value=TIME --unit ns`; `cargo perfcheck store import --help` explains column maps"
                .to_owned(),
        ));
    }
    let takes_unit = is_table || matches!(format, FileFormat::Criterion | FileFormat::Critcmp);
    let useless = [
        ("--columns", !is_table && !options.columns.is_empty()),
        ("--unit", !takes_unit && options.unit.is_some()),
        ("--guess-units", !is_table && options.guess_units),
        ("--lenient", !is_table && options.lenient),
        ("--no-header", !is_table && !options.layout.header),
        ("--decimal-comma", !is_table && options.layout.decimal_comma),
        ("--drop-first", is_ours && options.drop_first),
        (
            "--outliers",
            is_ours && options.outliers != SampleFilter::default(),
        ),
        ("--drop-rows", is_ours && options.drop_rows),
        (
            "--confidence-level",
            is_ours && options.confidence_level.is_some(),
        ),
        ("--resamples", is_ours && options.resamples.is_some()),
        ("--seed", is_ours && options.seed.is_some()),
        ("--as", is_ours && options.place.is_some()),
        ("--fact", is_ours && !options.facts.is_empty()),
        ("--run", is_table && !options.runs.is_empty()),
        ("--move-names", is_table && options.move_names),
    ];
    match useless.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(AppError::Usage(format!(
            "`{flag}` does not apply to the format {}",
            format.name()
        ))),
        None => Ok(()),
    }
}
