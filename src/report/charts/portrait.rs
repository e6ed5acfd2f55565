//! The picture of one benchmark in one run.

use std::io::{self, Write};

use super::panels;
use super::svg::{Anchor, Svg};
use crate::compare::Portrait;
use crate::model::{BenchmarkKey, RunId};
use crate::report::units::{self, Room};

/// Whose picture it is.
#[derive(Debug, Clone, Copy)]
pub struct Sitter<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// The run.
    pub run: RunId,
    /// Level of the intervals.
    pub confidence_level: f64,
    /// What there is to draw.
    pub portrait: &'a Portrait,
}

/// Writes it as one SVG file.
pub fn write_portrait(writer: &mut dyn Write, sitter: &Sitter<'_>) -> io::Result<()> {
    let (key, portrait) = (sitter.key, sitter.portrait);
    let mut svg = Svg::default();
    svg.text(
        (16.0, 30.0),
        Anchor::Start,
        "head",
        &units::name(&key.id, Room::Terminal),
    );
    let target = format!("{}/{}", key.package, key.target);
    let summary = &portrait.summary;
    svg.text(
        (16.0, 52.0),
        Anchor::Start,
        "small faint",
        &format!(
            "{}, run {}: {} of {}, {} intervals",
            units::name(&target, Room::Terminal),
            sitter.run,
            counted(summary.samples, "sample", "samples"),
            counted(summary.launches, "launch", "launches"),
            units::percent(sitter.confidence_level)
        ),
    );
    let mut bottom = panels::density(&mut svg, portrait, 68.0);
    if let Some(outside) = outside(portrait) {
        svg.text((584.0, bottom - 4.0), Anchor::End, "small faint", &outside);
        bottom += 12.0;
    }
    bottom = panels::ramp(&mut svg, portrait, bottom);
    bottom = panels::violins(&mut svg, portrait, bottom);
    let name = format!("run-{}", sitter.run);
    let title = format!("{target} {}, run {}", key.id, sitter.run);
    let document = svg.document(&name, bottom, &title, &described(sitter));
    writer.write_all(document.as_bytes())
}

/// `1 launch`, `5 launches`
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn outside(portrait: &Portrait) -> Option<String> {
    let plural = if portrait.outside == 1 { "" } else { "s" };
    (portrait.outside > 0).then(|| {
        format!(
            "{} sample{plural} far outside not drawn (slowest {})",
            portrait.outside,
            units::time(portrait.summary.max)
        )
    })
}

/// The picture in words.
fn described(sitter: &Sitter<'_>) -> String {
    let portrait = sitter.portrait;
    let summary = &portrait.summary;
    let level = units::percent(sitter.confidence_level);
    let slope = summary.slope.map_or_else(String::new, |slope| {
        format!(
            " A line through the origin with a slope of {} per iteration through the samples of the linear phases.",
            units::time(slope.estimate)
        )
    });
    let medians: Vec<String> = portrait
        .launches
        .iter()
        .map(|launch| units::time(launch.median))
        .collect();
    let outside = outside(portrait).map_or_else(String::new, |text| format!(" {text}."));
    format!(
        "{} of {}. Density of the times of an iteration from {} to {}, median {} with {level} interval from {} to {}.{slope} A violin for each launch; medians: {}.{outside}",
        counted(summary.samples, "sample", "samples"),
        counted(summary.launches, "launch", "launches"),
        units::time(portrait.range.0),
        units::time(portrait.range.1),
        units::time(summary.median.estimate),
        units::time(summary.median.lower),
        units::time(summary.median.upper),
        medians.join(", "),
    )
}
