//! `--method SYSTEM --explain`: lists the settings of comparisons in this workspace if they follow the conventions of another published system.

use crate::error::AppError;
use crate::options::{CommonOptions, ComparisonOptions};
use crate::output::{MethodExplained, MethodSetting, SettingSource, write_method};
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{Analysis, DecisionSettings, Outliers, System, Thresholds};

/// Writes the settings that `options` result in. Measures and compares nothing.
pub fn explain_method(
    options: &ComparisonOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let workspace = &context.tables.workspace;
    options.check(workspace)?;
    let Some(method) = options.analysis.method.or(workspace.method) else {
        return Err(AppError::Usage(
            "`--explain` needs `--method`\n  help: add `--method`, for example `--method nbenchmark`; `--help` lists all methods".to_owned(),
        ));
    };
    let found = MethodExplained {
        method,
        settings: settings(options, &options.decision(workspace), method),
    };
    let meaning = System::WORDS
        .iter()
        .find(|(word, _)| *word == method.word());
    let meaning = meaning.map_or("", |(_, meaning)| *meaning);
    write_method(world.stdout, &found, meaning, common.output.format)?;
    Ok(ExitCode::Clean)
}

/// Formats the value of a setting. Returns `None` if the test determines the value.
type SettingFormatter = fn(&DecisionSettings) -> Option<String>;

/// Lists every setting in force with its source.
fn settings(
    options: &ComparisonOptions,
    decision: &DecisionSettings,
    method: System,
) -> Vec<MethodSetting> {
    let requested = &options.analysis;
    let (of_method, default) = (method.decision_settings(), DecisionSettings::default());
    // Unless `--method` is given, tables take precedence over the method that they name.
    let is_named = requested.method.is_some();
    let of_tests: [(&str, bool, SettingFormatter); 9] = [
        ("--test", requested.test().is_some(), |found| {
            Some(found.analysis.test.to_string())
        }),
        (
            "--observations",
            requested.observations.is_some(),
            |found| Some(found.analysis.observations.to_string()),
        ),
        ("--outliers", requested.outliers.is_some(), |found| {
            Some(format_outliers(&found.analysis))
        }),
        ("--center", requested.center.is_some(), |found| {
            found.analysis.center.map(|center| center.to_string())
        }),
        ("--quantile", requested.quantile.is_some(), |found| {
            found.analysis.quantile.map(|rule| rule.to_string())
        }),
        ("--correction", requested.correction.is_some(), |found| {
            Some(found.analysis.correction.to_string())
        }),
        ("--rank-p", requested.rank_p.is_some(), |found| {
            Some(found.analysis.p.to_string())
        }),
        ("--trimmed-error", false, |found| {
            Some(found.analysis.trimmed_error.to_string())
        }),
        ("--metric", requested.metric.is_some(), |found| {
            Some(found.analysis.subject.to_string())
        }),
    ];
    let of_tables: [(&str, bool, SettingFormatter); 4] = [
        (
            "--noise-threshold",
            options.noise_threshold.is_some(),
            |found| Some(found.noise_threshold.to_string()),
        ),
        (
            "--significance-level",
            options.significance_level.is_some(),
            |found| Some(found.significance_level.to_string()),
        ),
        (
            "--confidence-level",
            options.confidence_level.is_some(),
            |found| Some(found.confidence_level.to_string()),
        ),
        ("--resamples", options.resamples.is_some(), |found| {
            Some(found.resamples.to_string())
        }),
    ];
    let of_tests = of_tests.map(|(name, is_said, written)| {
        let [value, set, usual] = [decision, &of_method, &default].map(written);
        let from = setting_source(is_said, false, &value, &set, &usual);
        new_setting(name, value, from)
    });
    let of_tables = of_tables.map(|(name, is_said, written)| {
        let [value, set, usual] = [decision, &of_method, &default].map(written);
        let from = setting_source(is_said, is_named, &value, &set, &usual);
        new_setting(name, value, from)
    });
    let thresholds = thresholds(decision.thresholds, of_method.thresholds, is_named);
    (of_tests.into_iter())
        .chain(of_tables)
        .chain(thresholds)
        .collect()
}

/// Lists the thresholds that differ from the default.
fn thresholds(
    in_force: Thresholds,
    of_method: Thresholds,
    is_named: bool,
) -> impl Iterator<Item = MethodSetting> {
    let of_method = of_method.non_default();
    in_force
        .non_default()
        .into_iter()
        .map(move |(name, value, default)| {
            let set = of_method.iter().find(|(other, ..)| *other == name);
            let set = set.map_or(default, |(_, set, _)| *set);
            let from = setting_source(false, is_named, &value, &set, &default);
            new_setting(&format!("thresholds.{name}"), Some(value.to_string()), from)
        })
}

/// Determines where `value` comes from: the command line (if `is_said`), a table, the method (which sets it to `set`), or the default (`usual`).
fn setting_source<T: PartialEq>(
    is_said: bool,
    is_named: bool,
    value: &T,
    set: &T,
    usual: &T,
) -> SettingSource {
    if is_said {
        SettingSource::Flag
    } else if value != set {
        SettingSource::Table
    } else if set != usual || is_named {
        SettingSource::Method
    } else {
        SettingSource::Default
    }
}

fn new_setting(name: &str, value: Option<String>, from: SettingSource) -> MethodSetting {
    MethodSetting {
        setting: name.to_owned(),
        value,
        from,
    }
}

/// Formats the outlier policy as the flag expects it.
fn format_outliers(analysis: &Analysis) -> String {
    match (analysis.outliers, analysis.drop_first) {
        (outliers, false) => outliers.to_string(),
        (Outliers::Keep, true) => "first".to_owned(),
        (outliers, true) => format!("{outliers},first"),
    }
}
