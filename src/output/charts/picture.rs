//! Three kinds of pictures. One shows a benchmark in one run. One has split violins, where each row compares two benchmarks (such as writing and
//! reading): one above a line and one below it. The third is a forest plot, which is part of a table.

use std::io::{self, Write};

use super::svg::{Anchor, Axis, Quantity, Svg, WIDTH};
use crate::output::scale::Scale;
use crate::output::units;
use crate::output::words::analysis;
use perfcheck_analysis::compare::{
    Estimate, Interval, OutlierLabel, Ramp, Shape, SlopedRamp, Summary, TukeyFences, WeightedEcdf,
};
use perfcheck_analysis::model::{BenchmarkKey, Metric, RunId};

/// The contents of the picture of a benchmark in one run.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// Metric of the samples.
    pub metric: &'a Metric,
    /// Number of the run.
    pub run: RunId,
    /// Confidence level of the intervals.
    pub confidence_level: f64,
    /// The statistics that are written in the picture.
    pub summary: &'a Summary,
    /// The curves and samples that are drawn.
    pub shape: &'a Shape,
    /// The distribution of the latencies of single operations, if they were timed.
    pub operations: Option<&'a WeightedEcdf>,
}

/// Writes the picture of a benchmark as one SVG file.
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
            "{}, run {}: {} from {}, {} intervals",
            units::short_id(&target),
            picture.run,
            units::counted(summary.samples, "sample"),
            units::counted(summary.processes, "process"),
            units::percent(picture.confidence_level)
        ),
    );
    let mut bottom = draw_density(&mut svg, shape, summary, metric, 68.0);
    let remarks = describe_left_out(picture)
        .into_iter()
        .chain(describe_fences(picture));
    for remark in remarks.chain(describe_undrawn(picture)) {
        bottom = draw_remark(&mut svg, &remark, bottom);
    }
    if let Some((ramp, slope)) = shape.ramp.as_ref().zip(summary.slope.as_ref()) {
        bottom = draw_ramp(&mut svg, ramp, slope, metric, bottom);
        if let Some(above) = describe_above_ramp(picture) {
            bottom = draw_remark(&mut svg, &above, bottom);
        }
    }
    bottom = draw_violins(&mut svg, shape, metric, bottom);
    if let Some(operations) = picture.operations {
        bottom = draw_operations(&mut svg, operations, bottom);
    }
    let name = format!("run-{}", picture.run);
    let title = format!("{target} {}, run {}", key.id, picture.run);
    let document = svg.document(&name, bottom, &title, &describe(picture));
    writer.write_all(document.as_bytes())
}

/// Says how many samples a filter left out. Returns `None` without a filter.
fn describe_left_out(picture: &Picture<'_>) -> Option<String> {
    let left_out = picture.summary.left_out?;
    Some(left_out.describe())
}

/// Says where Tukey's fences lie, beyond which samples are outliers. Returns `None` if there are several processes, because each has fences of its
/// own.
fn describe_fences(picture: &Picture<'_>) -> Option<String> {
    let [only] = &picture.summary.fences[..] else {
        return None;
    };
    let [from, low, high, to] = only
        .ascending()?
        .map(|at| units::format_cost(picture.metric, at));
    Some(format!(
        "Outlier fences: mild {low} and {high}, severe {from} and {to}"
    ))
}

/// Says how many samples are not drawn because they are too far from the others. Returns `None` if all are drawn.
fn describe_undrawn(picture: &Picture<'_>) -> Option<String> {
    let outside = picture.shape.outside;
    (outside > 0).then(|| {
        format!(
            "Not drawn: {} far from the others (largest {})",
            units::counted(outside, "sample"),
            units::format_cost(picture.metric, picture.summary.max)
        )
    })
}

/// Says how many samples lie above the drawn range in the panel with the linear phases. Returns `None` if none does.
fn describe_above_ramp(picture: &Picture<'_>) -> Option<String> {
    let (ramp, slope) = (picture.shape.ramp.as_ref()?, picture.summary.slope?);
    let top = SlopedRamp::drawn_height(&[ramp.with_slope(slope.estimate)]);
    let above = ramp.points.iter();
    let above = above.filter(|point| point.elapsed.as_f64() > top).count();
    (above > 0).then(|| {
        format!(
            "Not drawn: {} above the picture (largest {})",
            units::counted(above, "sample"),
            units::format_cost(picture.metric, ramp.elapsed)
        )
    })
}

/// Describes the picture in words, for people who cannot see it.
fn describe(picture: &Picture<'_>) -> String {
    let (summary, shape) = (picture.summary, picture.shape);
    let spent = |value: f64| units::format_cost(picture.metric, value);
    let level = units::percent(picture.confidence_level);
    let slope = summary.slope.map_or_else(String::new, |slope| {
        format!(
            " A line through the origin fits the samples of the linear phases, with a slope of {} per iteration.",
            spent(slope.estimate)
        )
    });
    let medians: Vec<String> = (shape.processes.iter())
        .map(|process| spent(process.quartiles[1]))
        .collect();
    let mut remarks = String::new();
    let outliers = analysis::describe_outliers(summary);
    let texts = describe_left_out(picture)
        .into_iter()
        .chain(describe_fences(picture))
        .chain(outliers);
    for text in texts
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
            " Half of the single operations took at most {}, 99 % at most {}.",
            quantile(0.5),
            quantile(0.99)
        )
    });
    let bounds = [summary.median.lower, summary.median.upper];
    let interval = if bounds.iter().all(|bound| bound.is_finite()) {
        let [lower, upper] = bounds.map(spent);
        format!(", {level} interval {lower} to {upper}")
    } else {
        String::new()
    };
    format!(
        "{} from {}. Density of the {}, {} to {}; median {}{interval}.{slope} A violin for each process; medians: {}.{remarks}{operations}",
        units::counted(summary.samples, "sample"),
        units::counted(summary.processes, "process"),
        value_axis_title(picture.metric),
        spent(shape.range().lower),
        spent(shape.range().upper),
        spent(summary.median.estimate),
        medians.join(", "),
    )
}

/// The contents of a picture with split violins.
#[derive(Debug, Clone)]
pub struct SplitPicture<'a> {
    /// Number of the run.
    pub run: RunId,
    /// Names of the two series: first the one above the lines, then the one below.
    pub series: [&'a str; 2],
    /// The rows of the picture, each with two benchmarks.
    pub rows: Vec<SplitRow<'a>>,
    /// A note below the title.
    pub note: Option<String>,
}

/// Two benchmarks that a row compares.
#[derive(Debug, Clone)]
pub struct SplitRow<'a> {
    /// The part of their ids that both benchmarks have in common.
    pub name: &'a str,
    /// Metric of the samples of both benchmarks.
    pub metric: &'a Metric,
    /// The shapes above and below the line. `None` if there is no such benchmark, or if it has no samples.
    pub halves: [Option<Shape>; 2],
}

/// Writes a picture with split violins as one SVG file.
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
        bottom = draw_split_violin(&mut svg, row.name, &row.halves, row.metric, bottom);
    }
    let name = format!("run-{}-split", picture.run);
    let document = svg.document(&name, bottom, &title, &describe_split(picture));
    writer.write_all(document.as_bytes())
}

/// Describes the picture in words, for people who cannot see it.
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

/// Width of a forest plot.
const FOREST_WIDTH: f64 = 320.0;
/// Distance of the axis from both edges of a forest plot, with room for the labels at its ends.
const FOREST_MARGIN: f64 = 16.0;
/// Height of a row.
const FOREST_ROW: f64 = 26.0;
/// Half the height of the stroke that marks a bound, and half the width of the arrow at the end of the axis.
const FOREST_MARK: f64 = 5.0;
/// If one interval reaches this many times farther than most others do, the axis ends before it. Otherwise, the other intervals would be too short to be
/// seen.
const CUT_OFF_RATIO: f64 = 10.0;

/// Changes with their intervals on one axis. Each is a picture of its own, for a cell of a table.
#[derive(Debug, Clone)]
pub(crate) struct ForestPlot {
    axis: Axis,
}

impl ForestPlot {
    /// Chooses an axis for `changes`, each of which comes with its noise threshold.
    pub(crate) fn from_changes(changes: &[(Estimate, f64)]) -> Self {
        let values = changes.iter().flat_map(|(change, noise)| {
            let values = [change.lower, change.estimate, change.upper, -noise, *noise];
            values.into_iter().filter(|value| value.is_finite())
        });
        let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (_, usual) = Scale::around_zero(changes).ends();
        let limit = if high.max(-low) > CUT_OFF_RATIO * usual {
            usual
        } else {
            f64::INFINITY
        };
        let (low, high) = (low.max(-limit), high.min(limit));
        // Keep the outermost marks away from the ends of the axis, where an interval seems to go on.
        let room = 0.04 * (high - low);
        let scale = Scale::new(low - room, high + room);
        let places = FOREST_MARGIN..FOREST_WIDTH - FOREST_MARGIN;
        Self {
            axis: Axis::new(Quantity::Change, scale, places),
        }
    }

    /// Draws the ticks of the axis, in percent.
    pub(crate) fn draw_axis(&self) -> String {
        let mut svg = Svg::new(FOREST_WIDTH, "");
        for (place, label) in self.axis.ticks() {
            svg.text((place, 12.0), Anchor::Middle, "tick", &label);
            svg.strokes("zero", 16.0, 4.0, &[place]);
        }
        svg.inline(20.0)
    }

    /// Draws a change: a band for noise, a line at zero, the interval and the estimate. An arrow stands for an estimate beyond the axis.
    pub(crate) fn draw_change(&self, change: &Estimate, noise_threshold: f64) -> String {
        let mut svg = Svg::new(FOREST_WIDTH, "");
        let place = |value: f64| self.axis.place(value);
        let noise = [-noise_threshold, noise_threshold].map(place);
        svg.rectangle("noise", (noise[0], 0.0), (noise[1], FOREST_ROW));
        svg.line("zero", [(place(0.0), 0.0), (place(0.0), FOREST_ROW)]);
        let middle = FOREST_ROW / 2.0;
        let bounds = [change.lower, change.upper];
        svg.line("interval", bounds.map(|bound| (place(bound), middle)));
        let (low, high) = self.axis.values();
        let is_shown = |value: &f64| (low..=high).contains(value);
        for bound in bounds.iter().filter(|bound| is_shown(bound)) {
            let top = middle - FOREST_MARK;
            svg.strokes("interval", top, 2.0 * FOREST_MARK, &[place(*bound)]);
        }
        let at = place(change.estimate);
        if is_shown(&change.estimate) {
            svg.dot((at, middle));
        } else {
            let back = at - 2.0 * FOREST_MARK.copysign(change.estimate);
            let corners = [middle - FOREST_MARK, middle + FOREST_MARK].map(|y| (back, y));
            svg.area("dots", corners.into_iter().chain([(at, middle)]));
        }
        svg.inline(FOREST_ROW)
    }
}

const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 16.0;
/// Distance from the top of a panel to its frame, with room for the heading.
const HEAD: f64 = 44.0;
/// Distance from the bottom of a frame to the next panel, with room for ticks and the title of the axis.
const FOOT: f64 = 58.0;
const PLOT: f64 = 150.0;
/// Height of the strip below the density that shows the samples themselves.
const SAMPLES: f64 = 44.0;
/// Share of the single operations that is drawn. The slowest thousandth is left out, because it would compress the rest.
const DRAWN_SHARE: f64 = 0.999;
/// Title of the panel that shows the latencies of single operations.
const OPERATIONS: &str = "Single operations";
/// Minimum distance between the numbers of two processes below their violins.
const LABEL_ROOM: f64 = 28.0;

/// Draws the panel with the density of the samples. Below the curve, each process has a row with all its samples and its fences. The median and its
/// interval are drawn across the panel. Returns the position at which the next panel begins.
fn draw_density(svg: &mut Svg, shape: &Shape, summary: &Summary, metric: &Metric, top: f64) -> f64 {
    let median = &summary.median;
    let (above, below) = (top + HEAD, top + HEAD + PLOT);
    let scale = Scale::from_interval(shape.range());
    let x = Axis::new(quantity(metric), scale, LEFT..RIGHT);
    draw_heading(
        svg,
        top,
        "Density of the samples",
        &format_estimate("median", median, metric),
    );
    draw_estimate(svg, &x, median, (above, below));
    let most = shape.density.peak() * 1.08;
    let y = Axis::new(Quantity::Count, Scale::new(0.0, most), below..above);
    if !shape.density.heights.is_empty() {
        let points = shape.density.points();
        let curve = points.map(|(value, height)| (x.place(value), y.place(height)));
        let ends = [(RIGHT, below), (LEFT, below)];
        svg.area("area", curve.chain(ends));
    }
    let bottom = below + SAMPLES;
    let row = SAMPLES / shape.processes.len().max(1) as f64;
    let is_alone = shape.processes.len() == 1;
    for (index, process) in shape.processes.iter().enumerate() {
        let fences = summary.fences.get(index);
        let top = below + row * (index as f64 + 0.1);
        draw_samples(svg, &x, &process.times, fences, (top, row * 0.8));
        // If there is a single process, its fences also apply to the density curve, so draw them across the whole panel.
        let from = if is_alone {
            above
        } else {
            below + row * index as f64
        };
        for at in fences_in_range(fences, shape.range()) {
            let at = x.place(at);
            svg.line(
                "fence",
                [(at, from), (at, below + row * (index + 1) as f64)],
            );
        }
    }
    svg.rectangle("frame", (LEFT, above), (RIGHT, bottom));
    svg.line("frame", [(LEFT, below), (RIGHT, below)]);
    draw_x_axis(svg, &x, bottom, &value_axis_title(metric));
    bottom + FOOT
}

/// Returns the fences within the drawn range.
fn fences_in_range(fences: Option<&TukeyFences>, range: Interval) -> impl Iterator<Item = f64> {
    let fences = fences
        .and_then(TukeyFences::ascending)
        .into_iter()
        .flatten();
    fences.filter(move |at| (range.lower..=range.upper).contains(at))
}

/// Draws samples as vertical strokes below `top`. Samples beyond the fences have other colors.
fn draw_samples(
    svg: &mut Svg,
    x: &Axis,
    times: &[f64],
    fences: Option<&TukeyFences>,
    (top, height): (f64, f64),
) {
    let (from, to) = x.values();
    let inside = times.iter().filter(|time| (from..=to).contains(*time));
    let mut classes = [
        ("samples", Vec::new()),
        ("mild", Vec::new()),
        ("severe", Vec::new()),
    ];
    for time in inside {
        let class = match fences.map_or(OutlierLabel::Inside, |fences| fences.label(*time)) {
            OutlierLabel::Inside => 0,
            OutlierLabel::LowMild | OutlierLabel::HighMild => 1,
            OutlierLabel::LowSevere | OutlierLabel::HighSevere => 2,
        };
        classes[class].1.push(x.place(*time));
    }
    for (class, places) in classes.into_iter().filter(|(_, places)| !places.is_empty()) {
        svg.strokes(class, top, height, &remove_overlapping(places));
    }
}

/// Draws the panel with the cumulative distribution of the latencies of single operations, as steps. It is computed from a random selection of the
/// operations.
fn draw_operations(svg: &mut Svg, ecdf: &WeightedEcdf, top: f64) -> f64 {
    let (above, below) = (top + HEAD, top + HEAD + PLOT);
    let quantile = |p| ecdf.quantile(p).unwrap_or(0.0);
    let (first, last) = (quantile(0.0), quantile(DRAWN_SHARE));
    let room = (last - first).max(last * 0.01) * 0.04;
    let x = Axis::new(
        Quantity::Time,
        Scale::new((first - room).max(0.0), last + room),
        LEFT..RIGHT,
    );
    let y = Axis::new(Quantity::Count, Scale::new(0.0, 1.0), below..above);
    let stated = format!(
        "p50 {}, p99 {}",
        units::time(quantile(0.5)),
        units::time(quantile(0.99))
    );
    draw_heading(svg, top, OPERATIONS, &stated);
    let mut line = vec![(x.place(first), y.place(0.0))];
    let mut before = 0.0;
    for step in ecdf.steps().iter().filter(|step| step.value <= last) {
        // Merge steps that are too close together to be visible.
        let at = x.place(step.value);
        if line.len() < 2 || at - line[line.len() - 1].0 > 0.33 {
            line.push((at, y.place(before)));
            line.push((at, y.place(step.share)));
        } else if let Some(end) = line.last_mut() {
            end.1 = y.place(step.share);
        }
        before = step.share;
    }
    line.push((RIGHT, y.place(before)));
    svg.line("curve", line);
    svg.rectangle("frame", (LEFT, above), (RIGHT, below));
    draw_x_axis(svg, &x, below, "time per operation");
    draw_y_axis(svg, &y, top);
    below + FOOT
}

/// Draws the panel with the linear phases. It shows the time of each sample against its iterations, and the slope with its interval.
fn draw_ramp(svg: &mut Svg, ramp: &Ramp, slope: &Estimate, metric: &Metric, top: f64) -> f64 {
    let (above, below) = (top + HEAD, top + HEAD + PLOT);
    let iterations = ramp.iterations;
    let scale = Scale::new(0.0, iterations * 1.04);
    let x = Axis::new(Quantity::Count, scale, LEFT..RIGHT);
    let most = SlopedRamp::drawn_height(&[ramp.with_slope(slope.estimate)]);
    let y = Axis::new(quantity(metric), Scale::new(0.0, most), below..above);
    let title = match metric {
        Metric::Time | Metric::Rate { .. } => "Iterations and time".to_owned(),
        Metric::Amount { unit } => format!("Iterations and {unit}"),
    };
    draw_heading(svg, top, &title, &format_estimate("slope", slope, metric));
    // Lines must not leave the frame: a line that is too steep ends at the frame's upper edge.
    let at_end = |slope: f64| match slope * iterations {
        end if end > most => (x.place(most / slope), y.place(most)),
        end => (x.place(iterations), y.place(end.max(0.0))),
    };
    let origin = (x.place(0.0), y.place(0.0));
    if slope.lower.is_finite() && slope.upper.is_finite() {
        let leaves = slope.upper * iterations > most && slope.lower * iterations < most;
        let corner = leaves.then(|| (x.place(iterations), y.place(most)));
        let ends = [at_end(slope.lower)].into_iter().chain(corner);
        svg.area(
            "band",
            std::iter::once(origin)
                .chain(ends)
                .chain([at_end(slope.upper)]),
        );
    }
    svg.line("line", [origin, at_end(slope.estimate)]);
    for point in &ramp.points {
        let (iterations, elapsed) = (point.iterations as f64, point.elapsed.as_f64());
        if elapsed <= most {
            svg.dot((x.place(iterations), y.place(elapsed)));
        }
    }
    svg.rectangle("frame", (LEFT, above), (RIGHT, below));
    draw_x_axis(svg, &x, below, "iterations per sample");
    draw_y_axis(svg, &y, top);
    below + FOOT
}

/// Draws the panel with a violin for each process. A line in a violin marks the median of the process.
fn draw_violins(svg: &mut Svg, shape: &Shape, metric: &Metric, top: f64) -> f64 {
    let processes = &shape.processes;
    let (above, below) = (top + HEAD, top + HEAD + PLOT + SAMPLES);
    let scale = Scale::from_interval(shape.range());
    let y = Axis::new(quantity(metric), scale, below..above);
    let count = processes.len();
    let room = (RIGHT - LEFT) / count.max(1) as f64;
    let peaks = processes.iter().map(|process| process.density.peak());
    let highest = peaks.fold(0.0, f64::max);
    draw_heading(svg, top, "Process by process", "line: median");
    for (index, process) in processes.iter().enumerate() {
        let middle = LEFT + room * (index as f64 + 0.5);
        let half = |density: f64| density / highest * room.min(90.0) * 0.46;
        let shape: Vec<(f64, f64)> = process
            .density
            .points()
            .filter(|(_, density)| half(*density) > 0.2)
            .map(|(at, density)| (half(density), y.place(at)))
            .collect();
        let right = shape.iter().map(|(half, at)| (middle + half, *at));
        let left = shape.iter().rev().map(|(half, at)| (middle - half, *at));
        if !shape.is_empty() {
            svg.area("area", right.chain(left));
        }
        let at = y.place(process.quartiles[1]);
        let half = room.min(90.0) * 0.3;
        svg.line("line", [(middle - half, at), (middle + half, at)]);
    }
    svg.rectangle("frame", (LEFT, above), (RIGHT, below));
    let every = (LABEL_ROOM / room).ceil().max(1.0) as usize;
    for index in (0..count).step_by(every) {
        let middle = LEFT + room * (index as f64 + 0.5);
        svg.text(
            (middle, below + 18.0),
            Anchor::Middle,
            "small faint",
            &(index + 1).to_string(),
        );
    }
    let centre = f64::midpoint(LEFT, RIGHT);
    svg.text(
        (centre, below + 38.0),
        Anchor::Middle,
        "small faint",
        "process",
    );
    draw_y_axis(svg, &y, top);
    below + FOOT
}

/// Draws a panel with two densities on one axis, each with its median. The first density extends upward and the second downward. Equal areas stand
/// for equal shares of the samples.
fn draw_split_violin(
    svg: &mut Svg,
    name: &str,
    halves: &[Option<Shape>; 2],
    metric: &Metric,
    top: f64,
) -> f64 {
    let (above, below) = (top + HEAD, top + HEAD + PLOT);
    let middle = f64::midpoint(above, below);
    let ranges = || halves.iter().flatten().map(Shape::range);
    let from = ranges().map(|range| range.lower);
    let to = ranges().map(|range| range.upper);
    let scale = Scale::new(from.fold(f64::INFINITY, f64::min), to.fold(0.0, f64::max));
    let x = Axis::new(quantity(metric), scale, LEFT..RIGHT);
    let peaks = halves.iter().flatten().map(|shape| shape.density.peak());
    let highest = peaks.fold(0.0, f64::max);
    let medians = halves
        .iter()
        .flatten()
        .map(|shape| units::format_cost(metric, shape.median()));
    let medians = medians.collect::<Vec<_>>().join(", ");
    draw_heading(
        svg,
        top,
        &units::short_id(name),
        &format!("medians {medians}"),
    );
    let sides = [("area", -1.0), ("second", 1.0)];
    for (shape, (class, sign)) in halves.iter().zip(sides) {
        let Some(shape) = shape else { continue };
        let reach = (middle - above) * 0.92;
        if highest > 0.0 && !shape.density.heights.is_empty() {
            let points = shape.density.points();
            let curve =
                points.map(|(at, height)| (x.place(at), middle + sign * reach * height / highest));
            let Interval { lower, upper } = shape.range();
            let ends = [(x.place(upper), middle), (x.place(lower), middle)];
            svg.area(class, curve.chain(ends));
        }
        let at = x.place(shape.median());
        svg.line("line", [(at, middle), (at, middle + sign * reach)]);
    }
    svg.rectangle("frame", (LEFT, above), (RIGHT, below));
    svg.line("frame", [(LEFT, middle), (RIGHT, middle)]);
    draw_x_axis(svg, &x, below, &value_axis_title(metric));
    below + FOOT
}

/// Writes a line of text below a panel, aligned to the right. Returns the position at which the next panel begins.
fn draw_remark(svg: &mut Svg, text: &str, bottom: f64) -> f64 {
    svg.text((RIGHT, bottom - 4.0), Anchor::End, "small faint", text);
    bottom + 17.0
}

/// Returns the title of the axis with the measured values.
fn value_axis_title(metric: &Metric) -> String {
    match metric {
        Metric::Time => "time per iteration".to_owned(),
        Metric::Rate { unit } => format!("time per unit ({unit})"),
        Metric::Amount { unit } => format!("{unit} per iteration"),
    }
}

fn quantity(metric: &Metric) -> Quantity {
    match metric {
        Metric::Time | Metric::Rate { .. } => Quantity::Time,
        Metric::Amount { .. } => Quantity::Count,
    }
}

fn draw_heading(svg: &mut Svg, top: f64, title: &str, stated: &str) {
    svg.text((LEFT, top + 18.0), Anchor::Start, "head", title);
    svg.text((RIGHT, top + 18.0), Anchor::End, "small", stated);
}

/// Formats an estimate with its interval: `median 100.3 ns [100.2 ns, 100.4 ns]`.
fn format_estimate(name: &str, estimate: &Estimate, metric: &Metric) -> String {
    let spent = |value: f64| units::format_cost(metric, value);
    let value = spent(estimate.estimate);
    if estimate.lower.is_finite() && estimate.upper.is_finite() {
        let (lower, upper) = (spent(estimate.lower), spent(estimate.upper));
        format!("{name} {value} [{lower}, {upper}]")
    } else {
        format!("{name} {value}")
    }
}

/// Draws an estimate as a line from top to bottom, and its interval as a band.
fn draw_estimate(svg: &mut Svg, x: &Axis, estimate: &Estimate, (above, below): (f64, f64)) {
    if estimate.lower.is_finite() && estimate.upper.is_finite() {
        let corners = (x.place(estimate.lower), x.place(estimate.upper));
        svg.rectangle("band", (corners.0, above), (corners.1, below));
    }
    let at = x.place(estimate.estimate);
    svg.line("line", [(at, above), (at, below)]);
}

/// Draws the horizontal axis below a frame: ticks, labels and the title `what`.
fn draw_x_axis(svg: &mut Svg, x: &Axis, bottom: f64, what: &str) {
    for (place, label) in x.ticks() {
        svg.strokes("frame", bottom, 5.0, &[place]);
        svg.text(
            (place, bottom + 19.0),
            Anchor::Middle,
            "small faint",
            &label,
        );
    }
    let unit = match x.unit().1 {
        "" => what.to_owned(),
        unit => format!("{what}, {unit}"),
    };
    svg.text(
        (f64::midpoint(LEFT, RIGHT), bottom + 38.0),
        Anchor::Middle,
        "small faint",
        &unit,
    );
}

/// Draws the vertical axis at the left of a frame: ticks and labels, and above them the unit.
fn draw_y_axis(svg: &mut Svg, y: &Axis, top: f64) {
    for (place, label) in y.ticks() {
        svg.line("frame", [(LEFT - 5.0, place), (LEFT, place)]);
        svg.text(
            (LEFT - 9.0, place + 4.5),
            Anchor::End,
            "small faint",
            &label,
        );
    }
    svg.text(
        (LEFT - 9.0, top + HEAD - 9.0),
        Anchor::End,
        "small faint",
        y.unit().1,
    );
}

/// Sorts positions, and removes each that is less than a third of a unit after the one before, because both would look the same.
fn remove_overlapping(mut places: Vec<f64>) -> Vec<f64> {
    places.sort_by(f64::total_cmp);
    places.dedup_by(|next, kept| *next - *kept < 0.33);
    places
}
