//! One benchmark as the page's script reads it. The names of the members are those of `assets/data.js`.

use serde_json::{Map, Value, json};

use super::content::{PageBenchmark, PageSide, estimates};
use super::history::{Timeline, history};
use super::phrases::Phrasebook;
use super::quantized::{estimate, places, short, short_or_null};
use crate::escape::one_line;
use crate::report::text::beside_record::{allocation_lines, latency_lines, lines_of_seconds};
use crate::report::words::analysis;
use crate::report::words::beside;
use crate::report::words::remarks;
use perfcheck_analysis::compare::{
    AllocationSummary, ChangeShape, Comparison, Curve, Difference, LatencySummary, Note, Ramp,
    Shape,
};
use perfcheck_analysis::model::{Metric, Verdict};

/// What the script takes intervals for that it is told nothing of.
const USUAL_INTERVALS: &str = "bootstrap";

/// What all benchmarks of a page share.
pub(super) struct PageShared<'a> {
    pub(super) phrases: &'a mut Phrasebook,
    /// Packages and their targets, in order.
    pub(super) places: &'a [(&'a str, &'a str)],
    pub(super) timeline: &'a Timeline<'a>,
    pub(super) confidence_level: f64,
}

/// The benchmark.
pub(super) fn benchmark(one: &PageBenchmark<'_>, shared: &mut PageShared<'_>) -> Value {
    let sentences: Vec<Value> = one
        .sentences
        .iter()
        .map(|(about, sentence)| {
            let (phrase, numbers) = shared.phrases.enter(about, &one_line(sentence));
            json!([phrase, numbers.join("|")])
        })
        .collect();
    let place = shared
        .places
        .binary_search(&(one.key.package.as_str(), one.key.target.as_str()))
        .ok();
    let top = [&one.candidate, &one.base]
        .into_iter()
        .flatten()
        .map(|side| side.shape.density.peak())
        .fold(0.0, f64::max);
    let side = |side: &Option<PageSide<'_>>| {
        side.as_ref()
            .map(|side| self::side(side, top, shared.confidence_level))
    };
    let notes: Vec<Value> = notes(one)
        .iter()
        .map(|note| {
            let (phrase, numbers) = shared.phrases.enter("note", &one_line(note));
            json!([phrase, numbers.join("|")])
        })
        .collect();
    let mut object = json!({
        "place": place,
        "id": one_line(&one.key.id),
        "verdict": one.verdict,
        "new": side(&one.candidate),
        "base": side(&one.base),
        "why": sentences,
    });
    let optional = [
        ("metric", metric(one.metric)),
        ("throughput", throughput(one)),
        ("compared", one.comparison.map(comparison)),
        (
            "stored",
            one.stored_change
                .filter(|_| one.comparison.is_none_or(|found| found.change.is_none()))
                .map(short),
        ),
        ("ramp_top", ramp_top(one).map(short)),
        ("resampled", one.change.as_ref().map(resampled)),
        (
            "history",
            one.history.map(|found| history(found, shared.timeline)),
        ),
        (
            "runs",
            (one.reference_runs.len() > 1).then(|| json!(one.reference_runs)),
        ),
        (
            "differs",
            (!one.blocking.is_empty()).then(|| differences(&one.blocking)),
        ),
        ("remarks", (!notes.is_empty()).then(|| json!(notes))),
    ];
    if let Some(members) = object.as_object_mut() {
        for (name, value) in optional {
            members.extend(value.map(|value| (name.to_owned(), value)));
        }
    }
    object
}

/// What a table says below it of a benchmark; what limits a comparison is of interest where it did not come out clearly well.
fn notes(one: &PageBenchmark<'_>) -> Vec<String> {
    let is_fine = matches!(
        one.verdict,
        Some(Verdict::Unchanged | Verdict::Improved | Verdict::New)
    );
    let comparison = one.comparison;
    let moved = comparison.map(beside::changes).unwrap_or_default();
    let limits = comparison.filter(|_| !is_fine).map(|found| &found.notes);
    let centers = comparison.and_then(|found| found.description.centers.as_ref());
    moved
        .into_iter()
        .chain(limits.into_iter().flatten().map(Note::to_string))
        .chain(one.remarks.iter().map(remarks::remark))
        .chain(centers.map(|found| analysis::centers(found, one.metric)))
        .collect()
}

/// Facts that differ, each with what it is on either side.
pub(super) fn differences(found: &[Difference]) -> Value {
    let lines = found.iter().map(|difference| {
        json!([
            difference.fact.name(),
            one_line(&difference.base),
            one_line(&difference.candidate)
        ])
    });
    lines.collect()
}

/// The nanoseconds up to which the linear phases of both sides are drawn; nothing where no side has a line to draw.
fn ramp_top(one: &PageBenchmark<'_>) -> Option<f64> {
    let sides = [&one.candidate, &one.base].into_iter().flatten();
    let sides: Vec<(&Ramp, f64)> = sides
        .filter_map(|side| {
            let slope = side.record.summary.slope.as_ref()?;
            Some((side.shape.ramp.as_ref()?, slope.estimate))
        })
        .collect();
    (!sides.is_empty()).then(|| Ramp::top(&sides))
}

/// Nothing for times, which most are.
fn metric(metric: &Metric) -> Option<Value> {
    (!metric.is_time()).then(|| json!(metric))
}

/// Bytes and elements of an iteration; where it has neither, the author's words.
fn throughput(one: &PageBenchmark<'_>) -> Option<Value> {
    let side = one.candidate.as_ref().or(one.base.as_ref())?;
    let benchmark = &side.measurement.benchmark;
    let found = benchmark.throughput;
    if found.bytes.is_some() || found.elements.is_some() {
        return Some(json!([found.bytes, found.elements]));
    }
    let words = benchmark.other_throughput.as_deref()?;
    Some(json!(one_line(words)))
}

fn comparison(found: &Comparison) -> Value {
    json!({
        "change": found.change.as_ref().map(estimate),
        "p": short_or_null(found.p_value),
        "mean": found.description.mean.as_ref().map(|mean| estimate(&mean.estimate)),
        "median": found.description.median.as_ref().map(|median| estimate(&median.estimate)),
        "threshold": short(found.noise_threshold),
        "callable": short_or_null(found.smallest_callable),
    })
}

fn resampled(found: &ChangeShape) -> Value {
    let Curve { range, heights } = &found.density;
    json!({
        "range": [short(range.0), short(range.1)],
        "density": places(heights.iter().copied(), (0.0, found.density.peak()), 2),
        "count": found.resamples,
    })
}

fn side(side: &PageSide<'_>, top: f64, confidence_level: f64) -> Value {
    let (record, shape) = (&side.record, &side.shape);
    let summary = &record.summary;
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            object.insert(name.to_owned(), value);
        }
    };
    put("run", json!(side.run));
    // Names would take more room than what they name.
    put(
        "numbers",
        json!([
            summary.samples,
            summary.launches,
            short(summary.min),
            short(summary.max),
            short_or_null(record.cv),
            short_or_null(summary.r_squared),
            short_or_null(record.over_launches.map(|over| over.standard_error)),
        ]),
    );
    let stated = estimates(record).map(|found| found.as_ref().map_or(Value::Null, estimate));
    put("estimates", stated.to_vec().into());
    put("percentiles", record.percentiles.map(short).to_vec().into());
    if summary.intervals.name() != USUAL_INTERVALS {
        put("intervals", json!(summary.intervals.name()));
    }
    let outliers = &summary.outliers;
    put(
        "outliers",
        json!([
            outliers.low_severe,
            outliers.low_mild,
            outliers.high_mild,
            outliers.high_severe
        ]),
    );
    for (name, value) in drawn(shape, top) {
        put(name, value);
    }
    let failed = &side.measurement.failures;
    if !failed.is_empty() {
        let lines = failed
            .iter()
            .map(|failure| format!("launch {}: {}", failure.launch, one_line(&failure.message)));
        put("failures", lines.collect());
    }
    let allocations = AllocationSummary::of(side.measurement);
    let latencies = LatencySummary::of(side.measurement, confidence_level);
    let more = allocations.iter().flat_map(allocation_lines).chain(
        latencies
            .iter()
            .flat_map(|found| latency_lines(found, confidence_level)),
    );
    let windows = latencies.iter().map(|found| &found.windows[..]);
    let more = more.chain(windows.flat_map(lines_of_seconds));
    let more: Vec<Value> = more
        .map(|(label, text)| json!([label, one_line(&text)]))
        .collect();
    if !more.is_empty() {
        put("more", more.into());
    }
    object.into()
}

/// What is drawn: places within the range of the side, and quantiles on the scale of their logarithms, since tails are long.
fn drawn(shape: &Shape, top: f64) -> Vec<(&'static str, Value)> {
    let launches = &shape.launches;
    let times = launches.iter().flat_map(|launch| &launch.times).copied();
    let counts: Vec<usize> = launches.iter().map(|launch| launch.times.len()).collect();
    let alike = counts.windows(2).all(|pair| pair[0] == pair[1]);
    let quartiles = launches.iter().flat_map(|launch| launch.quartiles);
    // Each as wide as it can be.
    let violins = launches.iter().map(|launch| {
        let heights = launch.density.heights.iter().copied();
        places(heights, (0.0, launch.density.peak()), 1)
    });
    let ends = (
        shape
            .quantiles
            .first()
            .map_or(0.0, |least| logarithm(*least)),
        shape.quantiles.last().map_or(0.0, |most| logarithm(*most)),
    );
    let quantiles = shape.quantiles.iter().map(|value| logarithm(*value));
    let range = shape.range();
    let mut found = vec![
        ("range", json!([short(range.0), short(range.1)])),
        (
            "density",
            places(shape.density.heights.iter().copied(), (0.0, top), 2).into(),
        ),
        (
            "spans",
            places(
                launches
                    .iter()
                    .flat_map(|launch| [launch.density.range.0, launch.density.range.1]),
                range,
                2,
            )
            .into(),
        ),
        ("order", places(times, range, 2).into()),
        (
            "counts",
            if alike {
                json!(counts.first())
            } else {
                json!(counts)
            },
        ),
        ("quartiles", places(quartiles, range, 2).into()),
        ("quantiles", places(quantiles, ends, 3).into()),
    ];
    if (launches.iter()).all(|launch| !launch.density.heights.is_empty()) {
        found.push(("violins", violins.collect::<String>().into()));
    }
    if shape.outside > 0 {
        found.push(("outside", json!(shape.outside)));
    }
    if let Some(ramp) = &shape.ramp {
        let iterations = ramp.points.iter().map(|point| point.0);
        let elapsed = ramp.points.iter().map(|point| point.1);
        found.push((
            "ramp",
            json!([
                short(ramp.iterations),
                short(ramp.elapsed),
                places(iterations, (0.0, ramp.iterations), 2),
                places(elapsed, (0.0, ramp.elapsed), 2),
                ramp.samples
            ]),
        ));
    }
    found
}

/// Of a time that may be 0.
fn logarithm(time: f64) -> f64 {
    time.max(1e-6).ln()
}

/// Every verdict with how often it was given, worst first.
pub(super) fn tally(benchmarks: &[PageBenchmark<'_>]) -> Value {
    let tally: perfcheck_analysis::model::Tally =
        benchmarks.iter().filter_map(|one| one.verdict).collect();
    let counts = Verdict::ALL
        .iter()
        .map(|verdict| json!([verdict, tally.count(*verdict)]));
    counts.collect()
}
