//! The place of a single result: a file, whole or not at all, or stdout.

use std::io::{self, Write};
use std::path::Path;

use super::whole_file::write_whole;
use crate::app::context::World;
use crate::app::error::AppError;
use crate::report::without_colours;

/// Writes a result to `file`, without colours, or to stdout where that is `-` or none is given.
pub(in crate::app) fn write_to(
    file: Option<&Path>,
    world: &mut World<'_>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), AppError> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else {
        return Ok(write(world.stdout)?);
    };
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(write_whole(path, &without_colours(&text))?)
}
