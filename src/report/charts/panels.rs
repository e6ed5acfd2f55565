//! The panels of a picture: density with samples, iterations against time, launches side by side. Each draws from `top` downwards and tells
//! where the next one begins.

use super::axis::{Axis, Quantity};
use super::svg::{Anchor, Svg, WIDTH};
use crate::report::units;
use perfcheck_analysis::compare::{Estimate, Ramp, Shape};
use perfcheck_analysis::model::Metric;

const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 16.0;
/// From the top of a panel to its frame.
const HEAD: f64 = 44.0;
/// From the bottom of a frame to the next panel: ticks, and what they count.
const FOOT: f64 = 58.0;
const PLOT: f64 = 150.0;
/// Room for the samples below the density.
const SAMPLES: f64 = 44.0;
/// Labels of launches stand at least so far apart.
const LABEL_ROOM: f64 = 28.0;

/// How densely the samples lie, with every sample, a row for each launch, and the median with its interval.
pub(super) fn density(
    svg: &mut Svg,
    shape: &Shape,
    median: &Estimate,
    metric: &Metric,
    top: f64,
) -> f64 {
    let (above, below) = (top + HEAD, top + HEAD + PLOT);
    let x = Axis::new(quantity(metric), shape.range(), (LEFT, RIGHT));
    head(
        svg,
        top,
        "Density of the samples",
        &stated("median", median, metric),
    );
    band(svg, &x, median, (above, below));
    let most = shape.density.peak() * 1.08;
    let y = Axis::new(Quantity::Count, (0.0, most), (below, above));
    if !shape.density.heights.is_empty() {
        let points = shape.density.points();
        let curve = points.map(|(value, height)| (x.place(value), y.place(height)));
        let ends = [(RIGHT, below), (LEFT, below)];
        svg.area("area", curve.chain(ends));
    }
    let bottom = below + SAMPLES;
    let row = SAMPLES / shape.launches.len().max(1) as f64;
    for (index, launch) in shape.launches.iter().enumerate() {
        let (from, to) = shape.range();
        let inside = launch
            .times
            .iter()
            .filter(|time| (from..=to).contains(*time));
        let places = distinct(inside.map(|time| x.place(*time)).collect());
        svg.strokes(
            "samples",
            below + row * (index as f64 + 0.1),
            row * 0.8,
            &places,
        );
    }
    svg.rectangle("frame", (LEFT, above), (RIGHT, bottom));
    svg.line("frame", [(LEFT, below), (RIGHT, below)]);
    across(svg, &x, bottom, &measured(metric));
    bottom + FOOT
}

/// The linear phases: what so many iterations took, with the slope and its interval.
pub(super) fn ramp(svg: &mut Svg, ramp: &Ramp, slope: &Estimate, metric: &Metric, top: f64) -> f64 {
    let (above, below) = (top + HEAD, top + HEAD + PLOT);
    let iterations = ramp.iterations;
    let x = Axis::new(Quantity::Count, (0.0, iterations * 1.04), (LEFT, RIGHT));
    let most = Ramp::top(&[(ramp, slope.estimate)]);
    let y = Axis::new(quantity(metric), (0.0, most), (below, above));
    let title = match metric {
        Metric::Time | Metric::Rate { .. } => "Iterations and time".to_owned(),
        Metric::Amount { unit } => format!("Iterations and {unit}"),
    };
    head(svg, top, &title, &stated("slope", slope, metric));
    // No line leaves the frame: one that is too steep for it ends where it meets its upper edge.
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
    for (iterations, elapsed) in ramp.points.iter().filter(|point| point.1 <= most) {
        svg.dot((x.place(*iterations), y.place(*elapsed)));
    }
    svg.rectangle("frame", (LEFT, above), (RIGHT, below));
    across(svg, &x, below, "iterations of a sample");
    upwards(svg, &y, top);
    below + FOOT
}

/// A violin for each launch, its median across it.
pub(super) fn violins(svg: &mut Svg, shape: &Shape, metric: &Metric, top: f64) -> f64 {
    let launches = &shape.launches;
    let (above, below) = (top + HEAD, top + HEAD + PLOT + SAMPLES);
    let y = Axis::new(quantity(metric), shape.range(), (below, above));
    let count = launches.len();
    let room = (RIGHT - LEFT) / count.max(1) as f64;
    let peaks = launches.iter().map(|launch| launch.density.peak());
    let highest = peaks.fold(0.0, f64::max);
    head(svg, top, "Launch by launch", "medians across");
    for (index, launch) in launches.iter().enumerate() {
        let middle = LEFT + room * (index as f64 + 0.5);
        let half = |density: f64| density / highest * room.min(90.0) * 0.46;
        let shape: Vec<(f64, f64)> = launch
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
        let at = y.place(launch.quartiles[1]);
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
        "launch",
    );
    upwards(svg, &y, top);
    below + FOOT
}

/// A line at the right below a panel: where the next one begins.
pub(super) fn remark(svg: &mut Svg, text: &str, bottom: f64) -> f64 {
    svg.text((RIGHT, bottom - 4.0), Anchor::End, "small faint", text);
    bottom + 12.0
}

/// What the values are.
pub(super) fn measured(metric: &Metric) -> String {
    match metric {
        Metric::Time => "time of an iteration".to_owned(),
        Metric::Rate { unit } => format!("time of a unit ({unit})"),
        Metric::Amount { unit } => format!("{unit} of an iteration"),
    }
}

fn quantity(metric: &Metric) -> Quantity {
    match metric {
        Metric::Time | Metric::Rate { .. } => Quantity::Time,
        Metric::Amount { .. } => Quantity::Count,
    }
}

fn head(svg: &mut Svg, top: f64, title: &str, stated: &str) {
    svg.text((LEFT, top + 18.0), Anchor::Start, "head", title);
    svg.text((RIGHT, top + 18.0), Anchor::End, "small", stated);
}

/// `median 100.3 ns [100.2 ns, 100.4 ns]`
fn stated(name: &str, estimate: &Estimate, metric: &Metric) -> String {
    let spent = |value: f64| units::spent(metric, value);
    let value = spent(estimate.estimate);
    if estimate.lower.is_finite() && estimate.upper.is_finite() {
        let (lower, upper) = (spent(estimate.lower), spent(estimate.upper));
        format!("{name} {value} [{lower}, {upper}]")
    } else {
        format!("{name} {value}")
    }
}

/// The value as a line from top to bottom, its interval as a band.
fn band(svg: &mut Svg, x: &Axis, estimate: &Estimate, (above, below): (f64, f64)) {
    if estimate.lower.is_finite() && estimate.upper.is_finite() {
        let corners = (x.place(estimate.lower), x.place(estimate.upper));
        svg.rectangle("band", (corners.0, above), (corners.1, below));
    }
    let at = x.place(estimate.estimate);
    svg.line("line", [(at, above), (at, below)]);
}

/// Ticks and labels below a frame.
fn across(svg: &mut Svg, x: &Axis, bottom: f64, what: &str) {
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

/// Labels at the left of a frame, their unit above them.
fn upwards(svg: &mut Svg, y: &Axis, top: f64) {
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

/// Places at least a third of a unit apart: more cannot be seen.
fn distinct(mut places: Vec<f64>) -> Vec<f64> {
    places.sort_by(f64::total_cmp);
    places.dedup_by(|next, kept| *next - *kept < 0.33);
    places
}
