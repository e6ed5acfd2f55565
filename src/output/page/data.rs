//! The data of the page for its script: each benchmark, its history over runs, and the environments of the runs as a table with a column for each
//! run.
//!
//! This module must not compute statistics. Invariant: the members have the names by which `assets/data.js` reads them.

use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use super::encoding::{
    FirstOrAll, Phrase, Phrasebook, RoundedEstimate, Short, encode_positions, short_estimate,
};
use crate::output::explanation::LabeledSentence;
use crate::output::messages::{BenchmarkHistory, ExclusionReason, HistoryPoint};
use crate::output::scale::Scale;
use crate::output::text::history::describe_side_by_side;
use crate::output::text::statistics::{
    allocation_lines, instruction_lines, latency_lines, second_lines, usage_lines,
};
use crate::output::units;
use crate::output::words::{extras, sentences};
use crate::sanitize::one_line;
use perfcheck_analysis::compare::{
    AllocationSummary, BenchmarkRecord, ChangeShape, Comparison, Curve, Difference, Estimate, Fact,
    HostControls, InstructionSummary, Interval, LatencySummary, PROBABILITIES, Ramp, Shape,
    SlopedRamp, Summary, TukeyFences, UsageSummary,
};
use perfcheck_analysis::findings::{LimitReport, Method, Row, RunNote};
use perfcheck_analysis::model::{
    GitState, HostFacts, Measurement, Metric, Run, RunId, Statistic, Timestamp, Verdict,
};

/// Name of the kind of interval that is left out of the data, because the script assumes it if there is none.
const USUAL_INTERVALS: &str = "t interval";

/// Maximum number of processes for whose fences there is room. With more, the row of a process is too low for its fences to be seen, so they are left
/// out.
const MOST_FENCES: usize = 16;

/// The data that all benchmarks of a page share.
pub(super) struct PageContext<'a> {
    pub(super) phrases: &'a mut Phrasebook,
    /// Package and name of each bench target, sorted.
    pub(super) places: &'a [[&'a str; 2]],
    pub(super) timeline: &'a Timeline<'a>,
    pub(super) confidence_level: f64,
    /// The statistic that the verdicts are about.
    pub(super) subject: Statistic,
}

/// A benchmark as data for the page's script. Members without content are left out.
#[derive(Serialize)]
pub(super) struct BenchmarkData<'a> {
    /// Index of the bench target in `places`.
    place: Option<usize>,
    id: String,
    verdict: Option<Verdict>,
    /// Name of the function whose cost changed most, if the verdict reports a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    candidate: Option<SideData>,
    base: Option<SideData>,
    /// The sentences that explain the verdict.
    why: Vec<Phrase>,
    /// Metric of the samples. It is left out for times, the usual metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<&'a Metric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    throughput: Option<ThroughputData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<ComparedData>,
    /// The change that is stored with the verdict, if the details of the comparison are not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<Short>,
    /// Upper end of the axis in the chart of the linear phases, in nanoseconds. Both sides share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ramp_top: Option<Short>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampled: Option<ResampledData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<HistoryData>,
    /// The runs whose mean is the reference, if there are several. Null stands for a run that is not in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<&'a [Option<RunId>]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differs: Vec<DifferenceData>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<Phrase>,
}

/// A fact that differs between the sides, with its value for the base and for the candidate.
pub(super) type DifferenceData = (&'static str, String, String);

/// What an iteration processes.
#[derive(Serialize)]
#[serde(untagged)]
enum ThroughputData {
    /// Number of bytes and number of elements, where these are known.
    Units([Option<u64>; 2]),
    /// A throughput in the words of the benchmark's author.
    Words(String),
}

/// The numbers of a comparison, as data for the page's script.
#[derive(Serialize)]
struct ComparedData {
    change: Option<RoundedEstimate>,
    /// The values before and after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<ComparedValues>,
    p: Option<Short>,
    mean: Option<RoundedEstimate>,
    median: Option<RoundedEstimate>,
    threshold: Short,
    callable: Option<Short>,
}

/// The values before and after a change, first as numbers and then as the texts that show them.
#[derive(Serialize)]
struct ComparedValues([Short; 2], [String; 2]);

/// The distribution of the changes that resamples of the processes give.
#[derive(Serialize)]
struct ResampledData {
    range: [Short; 2],
    density: String,
    count: usize,
}

/// One side of a benchmark, as data for the page's script. Some members are arrays without names, because these take less space than objects.
/// `assets/data.js` names their elements.
#[derive(Serialize)]
struct SideData {
    run: RunId,
    numbers: NumbersOfSide,
    estimates: [Option<RoundedEstimate>; 8],
    percentiles: [Short; 5],
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<&'static str>,
    /// Numbers of outliers: low severe, low mild, high mild and high severe.
    outliers: [usize; 4],
    /// The four fences of each process, in ascending order. Empty if there are too many processes to draw, or if a process has no fences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fences: Vec<[Short; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<OperationCurve>,
    #[serde(flatten)]
    drawn: CurveData,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<String>,
    /// Texts about allocations, instructions and latencies, each with its label.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<[String; 2]>,
}

/// The distribution of the latencies of single operations: the shortest and the longest of a random selection, and the quantiles between them.
#[derive(Serialize)]
struct OperationCurve(Short, Short, String);

/// Numbers of samples and of processes, the fastest and the slowest sample, the coefficient of variation, R² and the standard error.
type NumbersOfSide = (
    usize,
    usize,
    Short,
    Short,
    Option<Short>,
    Option<Short>,
    Option<Short>,
);

/// The curves of a side. Times are positions within the drawn range. Only quantiles are positions on a logarithmic scale, because tails are long.
#[derive(Serialize)]
struct CurveData {
    range: [Short; 2],
    density: String,
    /// Both ends of the range over which the density of each process is drawn.
    spans: String,
    /// The samples in the order in which they were taken.
    order: String,
    /// Number of samples of each process, or only of the first if all have equally many.
    counts: FirstOrAll,
    quartiles: String,
    quantiles: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    violins: Option<String>,
    /// Number of samples that are too far from the others to be drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    outside: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ramp: Option<RampData>,
}

/// The linear phases of a side: the largest number of iterations, the longest sample, the positions of the drawn samples on both axes, and the total
/// number of samples.
type RampData = (Short, Short, String, String, usize);

impl<'a> BenchmarkData<'a> {
    pub(super) fn from_benchmark(one: &'a PageBenchmark<'_>, shared: &mut PageContext<'_>) -> Self {
        let key = &one.row.key;
        let why = one.sentences.iter();
        let why = why.map(|one| shared.phrases.insert(one.topic, &one_line(&one.text)));
        let why = why.collect();
        let peaks = one.sides().map(|side| side.shape.density.peak());
        let top = peaks.fold(0.0, f64::max);
        let level = shared.confidence_level;
        let side =
            |side: &Option<PageSide<'_>>| Some(SideData::from_side(side.as_ref()?, top, level));
        let notes = notes(one).into_iter();
        let comparison = one.row.comparison.as_ref();
        let is_judged = comparison.is_some_and(|found| found.change.is_some());
        let reference = &one.row.reference[..];
        Self {
            place: shared
                .places
                .binary_search(&[&key.package, &key.target])
                .ok(),
            id: one_line(&key.id),
            verdict: one.row.verdict,
            function: costly_function(one.row).map(one_line),
            candidate: side(&one.candidate),
            base: side(&one.base),
            why,
            metric: Some(one.metric).filter(|metric| !metric.is_time()),
            throughput: throughput(one),
            compared: comparison
                .map(|found| ComparedData::from_comparison(found, shared.subject, one.metric)),
            stored: one.stored_change.filter(|_| !is_judged).map(Short),
            ramp_top: ramp_axis_end(one).map(Short),
            resampled: one.change.as_ref().map(ResampledData::from),
            history: one
                .history
                .map(|found| HistoryData::from_history(found, shared.timeline)),
            runs: Some(reference).filter(|runs| runs.len() > 1),
            differs: differences(&one.row.blocking),
            remarks: notes
                .map(|note| shared.phrases.insert("note", &one_line(&note)))
                .collect(),
        }
    }
}

/// Returns the name of the function whose cost changed most, if the verdict reports a change.
fn costly_function<'r>(row: &'r Row<'_>) -> Option<&'r str> {
    let is_called = matches!(row.verdict, Some(Verdict::Regressed | Verdict::Improved));
    let comparison = row.comparison.as_ref().filter(|_| is_called)?;
    let most = comparison.functions().first()?;
    Some(&most.name)
}

/// Returns the remarks about a benchmark. Notes on what limits the comparison are included only if the verdict needs an explanation.
fn notes(one: &PageBenchmark<'_>) -> Vec<String> {
    let moved = one.row.comparison.iter();
    let moved = moved.flat_map(|found| extras::describe_changes(found, one.metric));
    let limits = !sentences::is_fine(one.row);
    moved
        .chain(sentences::remarks_on(one.row, move |_| limits, one.metric))
        .collect()
}

pub(super) fn differences(found: &[Difference]) -> Vec<DifferenceData> {
    let lines = found.iter().map(|difference| {
        (
            difference.fact.word(),
            one_line(&difference.base),
            one_line(&difference.candidate),
        )
    });
    lines.collect()
}

/// Returns the upper end of the axis in the chart of the linear phases, which both sides share. Returns `None` if no side has a slope.
fn ramp_axis_end(one: &PageBenchmark<'_>) -> Option<f64> {
    let ramps = one.sides().filter_map(|side| {
        let slope = side.record.summary.slope.as_ref()?;
        Some(side.shape.ramp.as_ref()?.with_slope(slope.estimate))
    });
    let ramps: Vec<SlopedRamp<'_>> = ramps.collect();
    (!ramps.is_empty()).then(|| SlopedRamp::drawn_height(&ramps))
}

fn throughput(one: &PageBenchmark<'_>) -> Option<ThroughputData> {
    let benchmark = &one.sides().next()?.measurement.benchmark;
    let found = benchmark.throughput;
    if found.bytes.is_some() || found.elements.is_some() {
        return Some(ThroughputData::Units([found.bytes, found.elements]));
    }
    let words = benchmark.other_throughput.as_deref()?;
    Some(ThroughputData::Words(one_line(words)))
}

impl ComparedData {
    fn from_comparison(found: &Comparison, subject: Statistic, metric: &Metric) -> Self {
        let description = &found.description;
        Self {
            change: found.change.as_ref().map(short_estimate),
            values: sentences::format_values(found, subject, metric)
                .zip(found.compared)
                .map(|(texts, numbers)| {
                    let numbers = [numbers.base, numbers.candidate].map(Short);
                    ComparedValues(numbers, [texts.base, texts.candidate])
                }),
            p: found.p_value.map(Short),
            mean: description.mean.map(|mean| short_estimate(&mean.estimate)),
            median: description
                .median
                .map(|median| short_estimate(&median.estimate)),
            threshold: Short(found.noise_threshold),
            callable: found.smallest_callable.map(Short),
        }
    }
}

impl From<&ChangeShape> for ResampledData {
    fn from(found: &ChangeShape) -> Self {
        let Curve { range, heights } = &found.density;
        let scale = Scale::new(0.0, found.density.peak());
        Self {
            range: [range.lower, range.upper].map(Short),
            density: encode_positions(heights.iter().copied(), scale, 2),
            count: found.resamples,
        }
    }
}

impl SideData {
    fn from_side(side: &PageSide<'_>, top: f64, confidence_level: f64) -> Self {
        let record = &side.record;
        let summary = &record.summary;
        let outliers = &summary.outliers;
        let latencies = LatencySummary::from_measurement(side.measurement, confidence_level);
        let failures = side.measurement.failures.iter();
        Self {
            run: side.run,
            numbers: (
                summary.samples,
                summary.processes,
                Short(summary.min),
                Short(summary.max),
                record.cv.map(Short),
                summary.r_squared.map(Short),
                record.std_err_ns.map(Short),
            ),
            estimates: estimates(record).map(|found| found.as_ref().map(short_estimate)),
            percentiles: record.percentiles.map(Short),
            intervals: Some(summary.intervals.name()).filter(|name| *name != USUAL_INTERVALS),
            outliers: [
                outliers.low_severe,
                outliers.low_mild,
                outliers.high_mild,
                outliers.high_severe,
            ],
            fences: fences(summary),
            operations: latencies.as_ref().and_then(operations),
            drawn: CurveData::from_shape(&side.shape, top),
            failures: failures
                .map(|failure| {
                    let message = sentences::describe_failure(failure.side, &failure.message);
                    format!("process {}: {}", failure.process, one_line(&message))
                })
                .collect(),
            more: labeled_extras(side, latencies.as_ref(), confidence_level),
        }
    }
}

/// Returns the estimates of a side. Their order is that of `ESTIMATES_OF` in `assets/data.js`, which names them.
fn estimates(record: &BenchmarkRecord) -> [Option<Estimate>; 8] {
    let summary = &record.summary;
    [
        Some(summary.mean),
        record.mean_of_processes,
        record.mean_bca,
        Some(summary.median),
        record.median_of_processes,
        summary.sd,
        Some(summary.mad),
        summary.slope,
    ]
}

/// Returns the fences of all processes. The list is empty if a process has no fences, or if there are too many processes to draw.
fn fences(summary: &Summary) -> Vec<[Short; 4]> {
    let all = &summary.fences[..];
    let found = all.iter().map(TukeyFences::ascending);
    let found: Option<Vec<[f64; 4]>> = found.filter(|_| all.len() <= MOST_FENCES).collect();
    let found = found.unwrap_or_default().into_iter();
    found.map(|fences| fences.map(Short)).collect()
}

/// Returns the quantiles of the latencies of single operations, as positions on a logarithmic scale from the shortest to the longest operation. Their
/// probabilities are those of the quantiles of samples.
fn operations(found: &LatencySummary) -> Option<OperationCurve> {
    let distribution = found.course.distribution.as_ref()?;
    let quantiles: Vec<f64> = (PROBABILITIES.iter())
        .filter_map(|p| distribution.quantile(*p))
        .map(|value| value.max(1e-6))
        .collect();
    let (least, most) = (*quantiles.first()?, *quantiles.last()?);
    let logarithms = quantiles.iter().map(|value| value.ln());
    let text = encode_positions(logarithms, Scale::new(least.ln(), most.ln()), 3);
    Some(OperationCurve(Short(least), Short(most), text))
}

/// Returns texts, each with a label, about left-out samples, allocations, instructions, resources and latencies of a side.
fn labeled_extras(
    side: &PageSide<'_>,
    latencies: Option<&LatencySummary>,
    confidence_level: f64,
) -> Vec<[String; 2]> {
    let allocations = AllocationSummary::from_measurement(side.measurement);
    let of_latencies = latencies.iter().flat_map(|found| {
        let lines = latency_lines(found, confidence_level).into_iter();
        lines.chain(second_lines(&found.course.windows))
    });
    let instructions = InstructionSummary::from_measurement(side.measurement);
    let lines = allocations.iter().flat_map(allocation_lines);
    let lines = lines.chain(instructions.iter().flat_map(instruction_lines));
    let usage = UsageSummary::from_measurement(side.measurement, confidence_level);
    let lines = lines.chain(usage.iter().flat_map(usage_lines));
    let left_out = side.record.summary.left_out.iter();
    left_out
        .map(|left_out| ["left out".to_owned(), left_out.describe()])
        .chain(
            lines
                .chain(of_latencies)
                .map(|line| [line.label, line.text]),
        )
        .map(|[label, text]| [label, one_line(&text)])
        .collect()
}

impl CurveData {
    fn from_shape(shape: &Shape, top: f64) -> Self {
        let processes = &shape.processes;
        let range = shape.range();
        let scale = Scale::from_interval(range);
        let densities = shape.density.heights.iter().copied();
        let times = processes.iter().flat_map(|process| &process.times).copied();
        let counts: Vec<usize> = processes
            .iter()
            .map(|process| process.times.len())
            .collect();
        let alike = counts.windows(2).all(|pair| pair[0] == pair[1]);
        let spans = processes.iter().flat_map(|process| {
            let Interval { lower, upper } = process.density.range;
            [lower, upper]
        });
        let quartiles = processes.iter().flat_map(|process| process.quartiles);
        let has_violins = processes
            .iter()
            .all(|process| !process.density.heights.is_empty());
        // Each violin is scaled to its own largest density.
        let violins = processes.iter().map(|process| {
            let heights = process.density.heights.iter().copied();
            encode_positions(heights, Scale::new(0.0, process.density.peak()), 1)
        });
        let quantiles = shape.quantiles.iter().map(|value| clamped_ln(*value));
        let end = |value: Option<f64>| value.unwrap_or(0.0);
        let logarithmic = Scale::new(
            end(quantiles.clone().next()),
            end(quantiles.clone().next_back()),
        );
        Self {
            range: [range.lower, range.upper].map(Short),
            density: encode_positions(densities, Scale::new(0.0, top), 2),
            spans: encode_positions(spans, scale, 2),
            order: encode_positions(times, scale, 2),
            counts: if alike {
                FirstOrAll::One(counts.first().copied())
            } else {
                FirstOrAll::Each(counts)
            },
            quartiles: encode_positions(quartiles, scale, 2),
            quantiles: encode_positions(quantiles, logarithmic, 3),
            violins: has_violins.then(|| violins.collect()),
            outside: Some(shape.outside).filter(|count| *count > 0),
            ramp: shape.ramp.as_ref().map(ramp),
        }
    }
}

fn ramp(ramp: &Ramp) -> RampData {
    let points = ramp.points.iter();
    let iterations = points.clone().map(|point| point.iterations as f64);
    let elapsed = points.map(|point| point.elapsed.as_f64());
    (
        Short(ramp.iterations),
        Short(ramp.elapsed),
        encode_positions(iterations, Scale::new(0.0, ramp.iterations), 2),
        encode_positions(elapsed, Scale::new(0.0, ramp.elapsed), 2),
        ramp.samples,
    )
}

/// Returns the logarithm of a time. A time of 0, which has no logarithm, counts as a very short one.
fn clamped_ln(time: f64) -> f64 {
    time.max(1e-6).ln()
}

/// The number, the day and the commit of a run in the histories of the page.
#[derive(Serialize)]
pub(super) struct TimelineRun<'a>(RunId, Option<&'a str>, Option<&'a str>);

/// All runs that occur in the histories of a page, oldest first. The histories refer to them by their index, so that the page has the facts of each
/// run once.
pub(super) struct Timeline<'a> {
    points: Vec<&'a HistoryPoint>,
    places: HashMap<RunId, usize>,
}

impl<'a> Timeline<'a> {
    pub(super) fn from_page(page: &'a Page<'_>) -> Self {
        let histories = page.benchmarks.iter().filter_map(|one| one.history);
        let all = histories.flat_map(|history| &history.points);
        let runs: BTreeMap<(Timestamp, RunId), &HistoryPoint> =
            all.map(|point| ((point.at, point.run), point)).collect();
        let points: Vec<&HistoryPoint> = runs.into_values().collect();
        let places = points.iter().enumerate();
        Self {
            places: places.map(|(place, point)| (point.run, place)).collect(),
            points,
        }
    }

    pub(super) fn runs(&self) -> Vec<TimelineRun<'a>> {
        let runs = self.points.iter().map(|point| {
            let commit = point.git.as_ref().and_then(|git| git.commit.get(..10));
            TimelineRun(point.run, Some(point.day()), commit)
        });
        runs.collect()
    }

    /// Returns the positions of a history's runs in the timeline. If the positions are consecutive, the first one is enough.
    fn positions(&self, points: &[HistoryPoint]) -> FirstOrAll {
        let places: Vec<usize> = points
            .iter()
            .filter_map(|point| self.places.get(&point.run).copied())
            .collect();
        if places.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            return FirstOrAll::One(places.first().copied());
        }
        FirstOrAll::Each(places)
    }
}

/// The history of a benchmark, as data for the page's script. Points are ordered oldest first, and levels refer to points by their index.
#[derive(Serialize)]
pub(super) struct HistoryData {
    runs: FirstOrAll,
    values: Vec<Option<Short>>,
    /// The verdict of each point, encoded as one letter.
    verdicts: String,
    levels: Vec<LevelData>,
    /// The range in which the newest run was expected: the expected value with both bounds.
    band: Option<RoundedEstimate>,
    /// The statistic that stands for the samples of each process.
    value: Option<String>,
    /// Sentences about what all side-by-side runs together show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    together: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without: Vec<LeftOutData>,
}

/// A level of a history: its first and last point, its value, the change from the level before, and whether the user accepted that change.
type LevelData = (
    Option<usize>,
    Option<usize>,
    Short,
    Option<RoundedEstimate>,
    bool,
);

/// Why a range of points does not count towards the levels: the reason, and the indices of the first and the last point of the range.
type LeftOutData = (String, usize, usize);

impl HistoryData {
    pub(super) fn from_history(found: &BenchmarkHistory, timeline: &Timeline<'_>) -> Self {
        let place = |counted: usize| found.counted.get(counted).copied();
        let levels = found.course.levels.iter().map(|level| {
            let step = level.step.as_ref();
            (
                place(level.first),
                place(level.last),
                Short(level.value),
                step.map(|step| short_estimate(&step.change)),
                step.is_some_and(|step| step.accepted),
            )
        });
        let points = found.points.iter();
        let band = found.course.band.as_ref();
        Self {
            runs: timeline.positions(&found.points),
            values: points.clone().map(|point| point.value.map(Short)).collect(),
            verdicts: points.map(|point| verdict_letter(point.verdict)).collect(),
            levels: levels.collect(),
            band: band.map(|band| [band.value, band.lower, band.upper].map(Short)),
            value: found.location.map(|location| location.to_string()),
            together: describe_side_by_side(found),
            without: left_out_ranges(&found.points),
        }
    }
}

fn left_out_ranges(points: &[HistoryPoint]) -> Vec<LeftOutData> {
    let mut found: Vec<LeftOutData> = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let Some(reason) = &point.left_out else {
            continue;
        };
        let why = match reason.why {
            ExclusionReason::Incomparable => {
                let differing = reason.differences.iter();
                let facts: Vec<String> = differing.map(ToString::to_string).collect();
                one_line(&facts.join(", "))
            }
            ExclusionReason::Failed => "failed".to_owned(),
            ExclusionReason::OtherSamples => "other samples".to_owned(),
            ExclusionReason::OtherProcessor => "another processor".to_owned(),
            ExclusionReason::OtherBranch => "another branch".to_owned(),
        };
        match found.last_mut() {
            Some((known, _, last)) if *known == why && *last + 1 == place => *last = place,
            _ => found.push((why, place, place)),
        }
    }
    found
}

/// Encodes a verdict as a letter, which stands for its index in `Verdict::ALL`. Returns `-` if there is no verdict.
fn verdict_letter(verdict: Option<Verdict>) -> char {
    let place = verdict.and_then(|verdict| Verdict::ALL.iter().position(|known| *known == verdict));
    place.map_or('-', |place| {
        u8::try_from(place).map_or('-', |place| char::from(b'a' + place))
    })
}

/// A row of the table of environments: the name of a fact, and the function that reads its value from a run.
struct EnvironmentFact {
    name: &'static str,
    /// The fact by which comparisons of runs decide whether they are comparable. `None` if comparisons ignore what this row shows.
    fact: Option<Fact>,
    value: fn(&PageRun<'_>) -> String,
}

const LINES: [EnvironmentFact; 20] = [
    line("measured", None, |run| run.started.clone()),
    line("commit", None, |run| {
        git_fact(run.head, |git| git.commit.clone())
    }),
    line("branch", None, |run| {
        git_fact(run.head, |git| {
            let branch = git.branch.clone().unwrap_or_else(|| "detached".to_owned());
            if git.dirty {
                format!("{branch}, modified")
            } else {
                branch
            }
        })
    }),
    line("cpu", Some(Fact::Cpu), |run| {
        host_fact(run, |host| host.cpu.clone())
    }),
    line("architecture", Some(Fact::Architecture), |run| {
        host_fact(run, |host| host.architecture.clone())
    }),
    line("cores", Some(Fact::Cores), |run| {
        host_fact(run, |host| host.cores.to_string())
    }),
    line("os", Some(Fact::Os), |run| {
        host_fact(run, |host| host.os.clone())
    }),
    line("kernel", Some(Fact::Kernel), |run| {
        host_fact(run, |host| host.kernel.clone())
    }),
    line("governor", Some(Fact::Governor), |run| {
        host_fact(run, |host| host.governor.clone().unwrap_or_default())
    }),
    line("microcode", Some(Fact::Microcode), |run| {
        host_fact(run, |host| host.microcode.clone().unwrap_or_default())
    }),
    line("shared host", None, |run| {
        host_fact(run, |host| {
            match host.shared {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown",
            }
            .to_owned()
        })
    }),
    line("load at the start", None, |run| {
        run.head
            .begun
            .load
            .map(|load| format!("{load:.2}"))
            .unwrap_or_default()
    }),
    line("clock step", None, |run| {
        let step = run.signs.clock_step;
        step.map(|step| format!("{} ns", step.0))
            .unwrap_or_default()
    }),
    line("control workload", None, format_control_workload),
    line("rustc", Some(Fact::Rustc), |run| {
        run.head.begun.environment.build.rustc.clone()
    }),
    line("target", Some(Fact::Target), |run| {
        run.head.begun.environment.build.target.clone()
    }),
    line("profile", Some(Fact::Profile), |run| {
        run.head.begun.environment.build.profile.clone()
    }),
    line("rustflags", Some(Fact::Rustflags), |run| {
        run.head.begun.environment.build.rustflags.clone()
    }),
    line("seed", None, |run| run.head.begun.seed.to_string()),
    line("cargo-perfcheck", None, |run| {
        run.head.begun.tool_version.clone()
    }),
];

const fn line(
    name: &'static str,
    fact: Option<Fact>,
    value: fn(&PageRun<'_>) -> String,
) -> EnvironmentFact {
    EnvironmentFact { name, fact, value }
}

fn git_fact(run: &Run, pick: impl Fn(&GitState) -> String) -> String {
    run.begun.git.as_ref().map(pick).unwrap_or_default()
}

fn host_fact(run: &PageRun<'_>, pick: impl Fn(&HostFacts) -> String) -> String {
    pick(&run.head.begun.environment.host)
}

fn format_control_workload(run: &PageRun<'_>) -> String {
    let signs = &run.signs;
    let Some(pass) = signs.control_ns else {
        return String::new();
    };
    let jitter = units::jitter(signs).map(|jitter| format!(", {jitter}"));
    format!("{}{}", units::time(pass), jitter.unwrap_or_default())
}

/// A row in the table of environments, as data for the page's script.
#[derive(Serialize)]
pub(super) struct FactData {
    name: &'static str,
    /// Whether comparisons of runs check this fact.
    fact: bool,
    /// Whether runs that differ in this fact cannot be compared.
    blocks: bool,
    /// The value of the fact in each run of the page.
    values: Vec<String>,
}

/// Returns the rows in the table of environments. Facts that no run knows are left out.
pub(super) fn environment_facts(page: &Page<'_>) -> Vec<FactData> {
    let facts = LINES.iter().map(|line| FactData {
        name: line.name,
        fact: line.fact.is_some(),
        blocks: line.fact.is_some_and(|fact| Fact::BLOCKING.contains(&fact)),
        values: (page.runs.iter())
            .map(|run| one_line(&(line.value)(run)))
            .collect(),
    });
    let is_known = |fact: &FactData| fact.values.iter().any(|value| !value.is_empty());
    facts.filter(is_known).collect()
}

/// The contents of the page about a run.
#[derive(Debug)]
pub struct Page<'a> {
    /// Name of the directory of the workspace, which is part of the title of the page.
    pub workspace: String,
    /// The run that the page is about.
    pub run: &'a Run,
    /// What the run was compared with, in words; `None` if it was compared with nothing.
    pub reference: Option<String>,
    /// All runs that the page shows. The run that it is about comes first.
    pub runs: Vec<PageRun<'a>>,
    /// Confidence level of the intervals of times.
    pub confidence_level: f64,
    /// Facts that differ between the two sides without making them incomparable.
    pub warnings: Vec<Difference>,
    /// Remarks about the comparison as a whole.
    pub remarks: Vec<RunNote>,
    /// The limits that benchmarks exceed, and the limits that decided nothing.
    pub limits: LimitReport,
    /// Sentences about data that were left out to keep the page small.
    pub omissions: Vec<String>,
    /// The benchmarks, in the order in which the page shows them at first.
    pub benchmarks: Vec<PageBenchmark<'a>>,
}

/// A run that a page shows.
#[derive(Debug)]
pub struct PageRun<'a> {
    /// The run without its samples.
    pub head: &'a Run,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Speed and steadiness of the host, as the run measured them.
    pub signs: HostControls,
}

/// A benchmark that a page shows.
#[derive(Debug)]
pub struct PageBenchmark<'a> {
    /// The findings about the benchmark. Its measurement is not in them but in the two sides.
    pub row: &'a Row<'a>,
    /// Metric of the samples.
    pub metric: &'a Metric,
    /// The stored change, as a fraction. It is known even if the details of the comparison are no longer stored.
    pub stored_change: Option<f64>,
    /// Method by which the verdict was decided, if the benchmark was compared.
    pub method: Option<Method>,
    /// The measurement of the run that the page is about.
    pub candidate: Option<PageSide<'a>>,
    /// The measurement of the reference. If the reference has several runs, this is the newest one.
    pub base: Option<PageSide<'a>>,
    /// The distribution of the changes that resamples of the processes give.
    pub change: Option<ChangeShape>,
    /// The history of the benchmark on the branch of the run.
    pub history: Option<&'a BenchmarkHistory>,
    /// The sentences that explain the verdict.
    pub sentences: Vec<LabeledSentence>,
}

impl<'a> PageBenchmark<'a> {
    /// Returns the sides that were measured, the candidate first.
    pub fn sides(&self) -> impl Iterator<Item = &PageSide<'a>> {
        [&self.candidate, &self.base].into_iter().flatten()
    }
}

/// One side of a benchmark, with all that the page shows of it.
#[derive(Debug)]
pub struct PageSide<'a> {
    /// Number of the run that measured this side.
    pub run: RunId,
    /// The measurement.
    pub measurement: &'a Measurement,
    /// All statistics of the measurement, as `show --stats` prints them.
    pub record: BenchmarkRecord,
    /// The curves that show how the samples are distributed.
    pub shape: Shape,
}
