//! The destination of a single result: a file, written completely or not at all, or stdout.

use std::io::{self, Write};
use std::path::Path;

use super::whole_file::write_whole;
use crate::app::context::World;
use crate::app::error::AppError;
use crate::exchange::ExchangeError;
use crate::report::strip_colors;

/// Returns the parent directory of `file` if it is missing. Checking first avoids long computations whose result cannot be written.
pub(in crate::app) fn missing_directory(file: &Path) -> Option<&Path> {
    let parent = file.parent().filter(|parent| *parent != Path::new(""))?;
    (!parent.is_dir()).then_some(parent)
}

/// Refuses a path in a missing directory.
pub(in crate::app) fn check_destination(file: &Path) -> Result<(), ExchangeError> {
    let Some(missing) = missing_directory(file) else {
        return Ok(());
    };
    let why = format!("there is no directory {}", missing.display());
    Err(ExchangeError::Write {
        path: file.to_owned(),
        source: io::Error::new(io::ErrorKind::NotFound, why),
    })
}

/// Writes a result to `file`, without colors, or to stdout if `file` is `-` or `None`.
pub(in crate::app) fn write_result(
    file: Option<&Path>,
    world: &mut World<'_>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), AppError> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else {
        return Ok(write(world.stdout)?);
    };
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(write_whole(path, &strip_colors(&text))?)
}
