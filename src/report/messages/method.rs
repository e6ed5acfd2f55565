//! The message of `--method SYSTEM --explain`: the conventions of a published system, as they apply in this workspace.

use serde::Serialize;

use perfcheck_analysis::model::System;

/// The conventions of a published system as they apply here (`--method SYSTEM --explain`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodExplained {
    /// The system.
    pub method: System,
    /// All settings of the comparison, with their sources.
    pub settings: Vec<MethodSetting>,
}

/// A setting of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodSetting {
    /// Flag, or key of a threshold.
    pub setting: String,
    /// Value in force, in the syntax of the flag; null if the test determines it.
    pub value: Option<String>,
    /// Source of the value.
    pub from: SettingSource,
}

/// The source of a setting, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SettingSource {
    /// The command line.
    Flag,
    /// The conventions of the system.
    Method,
    /// A table in Cargo.toml.
    Table,
    /// The built-in default.
    Default,
}
