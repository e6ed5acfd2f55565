//! The picture of one benchmark in one run.

use std::io::{self, Write};

use super::panels;
use super::svg::{Anchor, Svg};
use crate::compare::Portrait;
use crate::model::{BenchmarkKey, Metric, RunId};
use crate::report::units;

/// Whose picture it is.
#[derive(Debug, Clone, Copy)]
pub struct Sitter<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// What its samples mean.
    pub metric: &'a Metric,
    /// The run.
    pub run: RunId,
    /// Level of the intervals.
    pub confidence_level: f64,
    /// What there is to draw.
    pub portrait: &'a Portrait,
}

/// Writes it as one SVG file.
pub fn write_portrait(writer: &mut dyn Write, sitter: &Sitter<'_>) -> io::Result<()> {
    let (key, metric, portrait) = (sitter.key, sitter.metric, sitter.portrait);
    let mut svg = Svg::default();
    svg.text(
        (16.0, 30.0),
        Anchor::Start,
        "head",
        &units::short_name(&key.id),
    );
    let target = format!("{}/{}", key.package, key.target);
    let summary = &portrait.summary;
    svg.text(
        (16.0, 52.0),
        Anchor::Start,
        "small faint",
        &format!(
            "{}, run {}: {} of {}, {} intervals",
            units::short_name(&target),
            sitter.run,
            counted(summary.samples, "sample", "samples"),
            counted(summary.launches, "launch", "launches"),
            units::percent(sitter.confidence_level)
        ),
    );
    let mut bottom = panels::density(&mut svg, portrait, metric, 68.0);
    if let Some(outside) = outside(sitter) {
        svg.text((584.0, bottom - 4.0), Anchor::End, "small faint", &outside);
        bottom += 12.0;
    }
    bottom = panels::ramp(&mut svg, portrait, metric, bottom);
    bottom = panels::violins(&mut svg, portrait, metric, bottom);
    let name = format!("run-{}", sitter.run);
    let title = format!("{target} {}, run {}", key.id, sitter.run);
    let document = svg.document(&name, bottom, &title, &described(sitter));
    writer.write_all(document.as_bytes())
}

/// `1 launch`, `5 launches`
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn outside(sitter: &Sitter<'_>) -> Option<String> {
    let portrait = sitter.portrait;
    let plural = if portrait.outside == 1 { "" } else { "s" };
    (portrait.outside > 0).then(|| {
        format!(
            "{} sample{plural} far outside not drawn (largest {})",
            portrait.outside,
            units::spent(sitter.metric, portrait.summary.max)
        )
    })
}

/// The picture in words.
fn described(sitter: &Sitter<'_>) -> String {
    let portrait = sitter.portrait;
    let summary = &portrait.summary;
    let spent = |value: f64| units::spent(sitter.metric, value);
    let level = units::percent(sitter.confidence_level);
    let slope = summary.slope.map_or_else(String::new, |slope| {
        format!(
            " A line through the origin with a slope of {} per iteration through the samples of the linear phases.",
            spent(slope.estimate)
        )
    });
    let medians: Vec<String> = portrait
        .launches
        .iter()
        .map(|launch| spent(launch.median))
        .collect();
    let outside = outside(sitter).map_or_else(String::new, |text| format!(" {text}."));
    format!(
        "{} of {}. Density of the {} from {} to {}, median {} with {level} interval from {} to {}.{slope} A violin for each launch; medians: {}.{outside}",
        counted(summary.samples, "sample", "samples"),
        counted(summary.launches, "launch", "launches"),
        panels::measured(sitter.metric),
        spent(portrait.range.0),
        spent(portrait.range.1),
        spent(summary.median.estimate),
        spent(summary.median.lower),
        spent(summary.median.upper),
        medians.join(", "),
    )
}
