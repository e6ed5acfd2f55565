//! `--method SYSTEM --explain`: what the conventions of a system come to in this workspace.

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::{ComparisonOptions, StoreOptions};
use crate::report::{MethodExplained, MethodSetting, SettingSource, write_method};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{Analysis, DecisionSettings, Outliers, System, Thresholds};

/// Writes what `options` come to, and measures and compares nothing.
pub fn explain_method(
    options: &ComparisonOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let workspace = &context.tables.workspace;
    options.check(workspace)?;
    let Some(method) = options.analysis.method.or(workspace.method) else {
        return Err(AppError::Usage(
            "`--explain` is about the conventions of a system\n  help: add `--method nbenchmark` or another one; `--help` lists them".to_owned(),
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

/// Every setting in force with where it comes from.
fn settings(
    options: &ComparisonOptions,
    decision: &DecisionSettings,
    method: System,
) -> Vec<MethodSetting> {
    let said = &options.analysis;
    let of_method = method.decision();
    let default = DecisionSettings::default();
    // Without `--method` tables are stronger than the method that they name.
    let is_named = said.method.is_some();
    let mut settings = Vec::new();
    let analysis = [
        words(decision.analysis),
        words(of_method.analysis),
        words(default.analysis),
    ];
    let flags = [
        said.test.is_some(),
        said.observations.is_some(),
        said.outliers.is_some(),
        said.center.is_some(),
        said.quantile.is_some(),
        said.correction.is_some(),
        said.p.is_some(),
        said.subject.is_some(),
    ];
    let [inforce, set, usual] = analysis;
    for ((((name, value), set), usual), flag) in inforce.into_iter().zip(set).zip(usual).zip(flags)
    {
        let from = match () {
            () if flag => SettingSource::Flag,
            () if set.1 != usual.1 => SettingSource::Method,
            () => SettingSource::Default,
        };
        settings.push(setting(name, value, from));
    }
    let numbers = [
        (
            "--noise-threshold",
            options.noise_threshold.is_some(),
            [decision, &of_method, &default].map(|found| found.noise_threshold),
        ),
        (
            "--significance-level",
            options.significance_level.is_some(),
            [decision, &of_method, &default].map(|found| found.significance_level),
        ),
        (
            "--confidence-level",
            options.confidence_level.is_some(),
            [decision, &of_method, &default].map(|found| found.confidence_level),
        ),
        (
            "--resamples",
            options.resamples.is_some(),
            [decision, &of_method, &default].map(|found| f64::from(found.resamples)),
        ),
    ];
    for (name, flag, [value, set, usual]) in numbers {
        let from = source(flag, is_named, value, set, usual);
        settings.push(setting(name, Some(value.to_string()), from));
    }
    settings.extend(thresholds(
        decision.thresholds,
        of_method.thresholds,
        is_named,
    ));
    settings
}

/// Thresholds that are not the default.
fn thresholds(
    in_force: Thresholds,
    of_method: Thresholds,
    is_named: bool,
) -> impl Iterator<Item = MethodSetting> {
    let of_method = of_method.changed();
    in_force
        .changed()
        .into_iter()
        .map(move |(name, value, default)| {
            let set = of_method.iter().find(|(other, ..)| *other == name);
            let set = set.map_or(default, |(_, set, _)| *set);
            let from = source(false, is_named, value, set, default);
            setting(&format!("thresholds.{name}"), Some(value.to_string()), from)
        })
}

/// Where a number comes from.
#[expect(
    clippy::float_cmp,
    reason = "these are settings, and nothing computed them"
)]
fn source(flag: bool, is_named: bool, value: f64, set: f64, usual: f64) -> SettingSource {
    if flag {
        SettingSource::Flag
    } else if value != set {
        SettingSource::Table
    } else if set != usual || is_named {
        SettingSource::Method
    } else {
        SettingSource::Default
    }
}

fn setting(name: &str, value: Option<String>, from: SettingSource) -> MethodSetting {
    MethodSetting {
        setting: name.to_owned(),
        value,
        from,
    }
}

/// The choices of an analysis with their flags; `None` of what follows from the test.
fn words(analysis: Analysis) -> [(&'static str, Option<String>); 8] {
    let outliers = match (analysis.outliers, analysis.drop_first) {
        (outliers, false) => outliers.to_string(),
        (Outliers::Keep, true) => "first".to_owned(),
        (outliers, true) => format!("{outliers},first"),
    };
    [
        ("--test", Some(analysis.test.to_string())),
        ("--observations", Some(analysis.observations.to_string())),
        ("--outliers", Some(outliers)),
        ("--center", analysis.center.map(|center| center.to_string())),
        ("--quantile", analysis.quantile.map(|rule| rule.to_string())),
        ("--correction", Some(analysis.correction.to_string())),
        ("--rank-p", Some(analysis.p.to_string())),
        ("--metric", Some(analysis.subject.to_string())),
    ]
}
