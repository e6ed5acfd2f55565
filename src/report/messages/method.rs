//! The conventions of a published system as they hold in a workspace.

use serde::Serialize;

use perfcheck_analysis::model::System;

/// The conventions of a published system as they hold here (`--method SYSTEM --explain`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodExplained {
    /// The system.
    pub method: System,
    /// Every setting of the comparison, and where it comes from.
    pub settings: Vec<MethodSetting>,
}

/// A setting of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodSetting {
    /// The flag, or the key of a threshold.
    pub setting: String,
    /// The value in force, as the flag takes it; null where it follows from the test.
    pub value: Option<String>,
    /// Where it comes from.
    pub from: SettingSource,
}

/// Where a setting comes from, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SettingSource {
    /// The command line says so.
    Flag,
    /// The system says so.
    Method,
    /// A table in Cargo.toml says so.
    Table,
    /// Nothing says otherwise.
    Default,
}
