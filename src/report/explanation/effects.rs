//! Explains the effect size of a difference, for every method of comparison.

use crate::report::messages::{Numbers, Statement};
use crate::report::units;
use perfcheck_analysis::compare::Comparison;
use perfcheck_analysis::model::{Metric, Observations};

/// Describes the effect sizes, if they were requested.
pub(super) fn effect_statement(comparison: &Comparison, metric: &Metric) -> Option<Statement> {
    let effects = comparison.description.effects.as_ref()?;
    let delta = effects.cliffs_delta?;
    let unit = match effects.observations {
        Observations::Launches => "launches",
        Observations::Samples => "samples",
        Observations::Filtered => "the samples that the filter leaves",
    };
    let hedges = effects.hedges_g.map_or_else(String::new, |g| {
        format!(" Hedges' g is {g:+.2} (differences in deviations).")
    });
    let shift = effects.shift_ns.map_or_else(String::new, |shift| {
        let (direction, size) = if shift.estimate < 0.0 {
            ("faster", -shift.estimate)
        } else {
            ("slower", shift.estimate)
        };
        format!(
            " Half of all pairs of {unit} differ by {} ({direction}) or more.",
            units::format_cost(metric, size)
        )
    });
    let paired = effects.paired_change.map_or_else(String::new, |paired| {
        format!(
            " Launch by launch the change is {} on average, between {} and {}.",
            units::change(paired.estimate),
            units::change(paired.lower),
            units::change(paired.upper)
        )
    });
    let pairs = if delta == 0.0 {
        format!("Pairs of {unit} are slower as often as faster")
    } else {
        format!(
            "Of all pairs of {unit}, {} percent more are {} than the other way",
            (delta.abs() * 100.0).round(),
            if delta > 0.0 { "slower" } else { "faster" }
        )
    };
    Some(Statement::new(
        format!(
            "{pairs}: Cliff's delta is {delta:+.3}, {}.{hedges}{shift}{paired}",
            effects.label.map_or("-", |size| size.label())
        ),
        Numbers::Effect(effects.clone()),
    ))
}
