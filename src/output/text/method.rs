//! Prints the conventions of a published system as they apply here (`--method SYSTEM --explain`), as a table or as a message.

use std::io::{self, Write};

use crate::output::layout::{Column, Table, cell_builder};
use crate::output::messages::{
    JsonMessage, MethodExplained, MethodSetting, SettingSource, write_message,
};
use crate::output::units;
use crate::output::view::{MessageFormat, wrap_prose};

/// Writes the settings that apply with a published system, and where each comes from: the command line, the system, Cargo.toml or the default.
/// `meaning` says in words what the system does.
pub fn write_method(
    writer: &mut dyn Write,
    found: &MethodExplained,
    meaning: &str,
    format: MessageFormat,
) -> io::Result<()> {
    if format == MessageFormat::Json {
        return write_message(writer, JsonMessage::MethodExplained(found));
    }
    let columns = units::terminal_width();
    writeln!(
        writer,
        "{}\n",
        wrap_prose(&format!("{meaning}."), columns, "")
    )?;
    let cells = cell_builder(&found.settings);
    let value = |line: &MethodSetting| {
        let value = line.value.clone();
        value.unwrap_or_else(|| "depends on the test".to_owned())
    };
    let from = |line: &MethodSetting| match line.from {
        SettingSource::Flag => "command line".to_owned(),
        SettingSource::Method => found.method.to_string(),
        SettingSource::Table => "Cargo.toml".to_owned(),
        SettingSource::Default => "default".to_owned(),
    };
    Table::new(vec![
        Column::fact("setting", cells(&|line| line.setting.clone())),
        Column::fact("value", cells(&value)),
        Column::fact("from", cells(&from)),
    ])
    .write(writer, columns)
}
