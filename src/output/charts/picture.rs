//! The picture of one benchmark in one run, and split violins, in which each row compares two benchmarks above and below a line, such as writing and
//! reading.

use std::io::{self, Write};

use super::panels;
use super::svg::{Anchor, Svg};
use crate::output::units;
use crate::output::words::analysis;
use perfcheck_analysis::compare::{Ramp, Shape, Summary, WeightedEcdf};
use perfcheck_analysis::model::{BenchmarkKey, Metric, RunId};

/// The content of a picture.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// Metric of the samples.
    pub metric: &'a Metric,
    /// The run.
    pub run: RunId,
    /// Confidence level of the intervals.
    pub confidence_level: f64,
    /// Numbers that are written in the picture.
    pub summary: &'a Summary,
    /// Curves to draw.
    pub shape: &'a Shape,
    /// Distribution of single operations, if they were timed.
    pub operations: Option<&'a WeightedEcdf>,
}

/// Writes the picture as one SVG file.
pub fn write_picture(writer: &mut dyn Write, picture: &Picture<'_>) -> io::Result<()> {
    let (key, metric) = (picture.key, picture.metric);
    let (summary, shape) = (picture.summary, picture.shape);
    let mut svg = Svg::default();
    svg.text(
        (16.0, 30.0),
        Anchor::Start,
        "head",
        &units::short_id(&key.id),
    );
    let target = format!("{}/{}", key.package, key.target);
    svg.text(
        (16.0, 52.0),
        Anchor::Start,
        "small faint",
        &format!(
            "{}, run {}: {} of {}, {} intervals",
            units::short_id(&target),
            picture.run,
            units::counted(summary.samples, "sample"),
            units::counted(summary.launches, "launch"),
            units::percent(picture.confidence_level)
        ),
    );
    let mut bottom = panels::draw_density(&mut svg, shape, summary, metric, 68.0);
    let remarks = describe_left_out(picture)
        .into_iter()
        .chain(describe_fences(picture));
    for remark in remarks.chain(describe_undrawn(picture)) {
        bottom = panels::draw_remark(&mut svg, &remark, bottom);
    }
    if let Some((ramp, slope)) = shape.ramp.as_ref().zip(summary.slope.as_ref()) {
        bottom = panels::draw_ramp(&mut svg, ramp, slope, metric, bottom);
        if let Some(above) = describe_above_ramp(picture) {
            bottom = panels::draw_remark(&mut svg, &above, bottom);
        }
    }
    bottom = panels::draw_violins(&mut svg, shape, metric, bottom);
    if let Some(operations) = picture.operations {
        bottom = panels::draw_operations(&mut svg, operations, bottom);
    }
    let name = format!("run-{}", picture.run);
    let title = format!("{target} {}, run {}", key.id, picture.run);
    let document = svg.document(&name, bottom, &title, &describe(picture));
    writer.write_all(document.as_bytes())
}

/// Describes the samples that a filter left out.
fn describe_left_out(picture: &Picture<'_>) -> Option<String> {
    let left_out = picture.summary.left_out?;
    Some(left_out.describe())
}

/// Describes Tukey's fences of a single process. With several processes, each has its own fences.
fn describe_fences(picture: &Picture<'_>) -> Option<String> {
    let [only] = &picture.summary.fences[..] else {
        return None;
    };
    let [from, low, high, to] = only
        .ascending()?
        .map(|at| units::format_cost(picture.metric, at));
    Some(format!(
        "Fences: mild {low} and {high}, severe {from} and {to}"
    ))
}

/// Describes the samples that are too far from the others to be drawn.
fn describe_undrawn(picture: &Picture<'_>) -> Option<String> {
    let outside = picture.shape.outside;
    (outside > 0).then(|| {
        format!(
            "{} far outside not drawn (largest {})",
            units::counted(outside, "sample"),
            units::format_cost(picture.metric, picture.summary.max)
        )
    })
}

/// Describes the samples above the panel of the linear phases.
fn describe_above_ramp(picture: &Picture<'_>) -> Option<String> {
    let (ramp, slope) = (picture.shape.ramp.as_ref()?, picture.summary.slope?);
    let top = Ramp::drawn_height(&[(ramp, slope.estimate)]);
    let above = ramp.points.iter().filter(|point| point.1 > top).count();
    (above > 0).then(|| {
        format!(
            "{} above the picture not drawn (largest {})",
            units::counted(above, "sample"),
            units::format_cost(picture.metric, ramp.elapsed)
        )
    })
}

/// Describes the picture in words.
fn describe(picture: &Picture<'_>) -> String {
    let (summary, shape) = (picture.summary, picture.shape);
    let spent = |value: f64| units::format_cost(picture.metric, value);
    let level = units::percent(picture.confidence_level);
    let slope = summary.slope.map_or_else(String::new, |slope| {
        format!(
            " A line through the origin with a slope of {} per iteration through the samples of the linear phases.",
            spent(slope.estimate)
        )
    });
    let medians: Vec<String> = (shape.launches.iter())
        .map(|launch| spent(launch.quartiles[1]))
        .collect();
    let mut remarks = String::new();
    let outliers = analysis::describe_outliers(summary);
    let said = describe_left_out(picture)
        .into_iter()
        .chain(describe_fences(picture))
        .chain(outliers);
    for text in said
        .chain(describe_undrawn(picture))
        .chain(describe_above_ramp(picture))
    {
        remarks += " ";
        remarks += &text;
        remarks += ".";
    }
    let operations = picture.operations.map_or_else(String::new, |found| {
        let quantile = |p| units::time(found.quantile(p).unwrap_or(0.0));
        format!(
            " Single operations: half of them took at most {}, 99 % at most {}.",
            quantile(0.5),
            quantile(0.99)
        )
    });
    let bounds = [summary.median.lower, summary.median.upper];
    let interval = if bounds.iter().all(|bound| bound.is_finite()) {
        let [lower, upper] = bounds.map(spent);
        format!(" with {level} interval from {lower} to {upper}")
    } else {
        String::new()
    };
    format!(
        "{} of {}. Density of the {} from {} to {}, median {}{interval}.{slope} A violin for each launch; medians: {}.{remarks}{operations}",
        units::counted(summary.samples, "sample"),
        units::counted(summary.launches, "launch"),
        panels::value_axis_title(picture.metric),
        spent(shape.range().0),
        spent(shape.range().1),
        spent(summary.median.estimate),
        medians.join(", "),
    )
}

/// The content of a picture of split violins.
#[derive(Debug, Clone)]
pub struct SplitPicture<'a> {
    /// The run.
    pub run: RunId,
    /// Names of the series, the upper one first.
    pub series: [&'a str; 2],
    /// The rows.
    pub rows: Vec<SplitRow<'a>>,
    /// A note below the title.
    pub note: Option<String>,
}

/// Two benchmarks in one row.
#[derive(Debug, Clone)]
pub struct SplitRow<'a> {
    /// Common part of their ids.
    pub name: &'a str,
    /// Metric of their samples.
    pub metric: &'a Metric,
    /// Upper and lower half; `None` if there is no such benchmark with samples.
    pub halves: [Option<Shape>; 2],
}

/// Writes the picture as one SVG file.
pub fn write_split(writer: &mut dyn Write, picture: &SplitPicture<'_>) -> io::Result<()> {
    let [upper, lower] = picture.series;
    let mut svg = Svg::default();
    let title = format!("{upper} (above) and {lower} (below), run {}", picture.run);
    svg.text(
        (16.0, 30.0),
        Anchor::Start,
        "head",
        &units::short_id(&title),
    );
    let mut bottom = 48.0;
    if let Some(note) = &picture.note {
        svg.text((16.0, 52.0), Anchor::Start, "small faint", note);
        bottom = 64.0;
    }
    for row in &picture.rows {
        bottom = panels::draw_split_violin(&mut svg, row.name, &row.halves, row.metric, bottom);
    }
    let name = format!("run-{}-split", picture.run);
    let document = svg.document(&name, bottom, &title, &describe_split(picture));
    writer.write_all(document.as_bytes())
}

/// Describes the picture in words.
fn describe_split(picture: &SplitPicture<'_>) -> String {
    let rows = picture.rows.iter().map(|row| {
        let halves = row.halves.iter().zip(picture.series);
        let medians = halves.filter_map(|(half, series)| {
            let shape = half.as_ref()?;
            Some(format!(
                "{series} {}",
                units::format_cost(row.metric, shape.median())
            ))
        });
        format!(
            "{}: medians {}.",
            row.name,
            medians.collect::<Vec<_>>().join(", ")
        )
    });
    let note = picture.note.iter().map(|note| format!("{note}."));
    rows.chain(note).collect::<Vec<_>>().join(" ")
}
