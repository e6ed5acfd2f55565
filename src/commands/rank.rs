//! `cargo perfcheck rank FILTER...`: measures benchmarks of one build side by side with the fastest of them, and ranks them by their speed.
//!
//! A first look finds the benchmark that seems fastest. Its samples only choose the reference; they are not tested. If the first benchmark of a group
//! fails or declines, the look is repeated beside another one. Then every other benchmark is measured beside the reference. If one of them proves
//! faster and time is left, it becomes the reference, and the group is measured once more. Each of the two measurements has half of the significance
//! level, whether or not the second one takes place. So the chance of telling equal benchmarks apart is at most the level. With `--against`, the user
//! chooses the reference, and there is only one measurement, which has the whole level.
//!
//! Nothing is stored: a run holds one result for each benchmark, and the two sides of such a pair are different benchmarks.

use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::delivery::files::{workspace_name, write_page_result, write_result};
use crate::delivery::reports::{ReportOptions, RequestedReportKind};
use crate::error::AppError;
use crate::naming::{Dimension, full_name, list_keys, unambiguous_word};
use crate::options::{CommonOptions, PairedOptions};
use crate::output::{
    MessageFormat, RankFindings, RankedGroup, RankedRow, TableFormat, counted, describe_failure,
    describe_run_remark, write_ranking, write_ranking_page,
};
use crate::pipeline::paired::{PairedMeasurement, RecordedRounds};
use crate::pipeline::prepare::{TargetName, nothing_found_error, timeout};
use crate::pipeline::relinking::Relinking;
use crate::pipeline::request::Request;
use crate::pipeline::work_tree::WorkTree;
use crate::session::{Context, World};
use perfcheck_analysis::compare::{
    PairedSeries, Plan, RankedBenchmark, Ranking, Standing, rank_beside_reference,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, Environment, Failure, Metric, Nanos, ProcessRecord, Round,
    Sample, Side,
};
use perfcheck_bench::measure::{
    BenchmarkCost, CampaignEnd, DiscoveredBenches, Filter, HarnessKind, PairedTarget, SkippedVisit,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_stats::{derived_seed, median};

/// Number of rounds of the first look, which chooses the references.
const ROUNDS_OF_FIRST_LOOK: u32 = 3;
/// Number of measurements that share the significance level if the first look chooses the references.
const MEASUREMENTS: u32 = 2;
/// Maximum number of benchmarks in a group. With more, each comparison would get too little of the significance level.
const LARGEST_GROUP: usize = 32;

const AFTER_RANK: &str = "\
Measures the selected benchmarks of the work tree side by side with the fastest of them, as a run measures two builds. A first look chooses the \
fastest; if another benchmark proves faster, the others are measured again beside that one. The chance that any two equally fast benchmarks are told \
apart is at most --significance-level, over all groups and both directions. Nothing is stored, and the exit status does not depend on the ranks.

Examples:
  cargo perfcheck rank 'parse/*'               rank all benchmarks whose id begins with `parse/`
  cargo perfcheck rank parse --by function     rank `parse/A/10` with `parse/B/10`, and `parse/A/20` with `parse/B/20`
  cargo perfcheck rank parse --by 2 --against serde
                                               the same, each beside `parse/serde/...`
  cargo perfcheck rank --program 'tool --fast in.txt' --program 'tool in.txt'
  cargo perfcheck rank parse --report html=ranks.html
                                               also write a page with the table and a plot of each group

Exit status: 0 whatever the ranks, 2 usage error, 3 build failed, 4 a benchmark failed, 130 interrupted.";

/// Rank benchmarks of one build by their speed.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_RANK)]
pub struct RankOptions {
    /// Rank benchmarks whose id contains one of these words; `*` stands for any text
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Rank only benchmarks that differ in nothing but this part of the id, e.g. 2 or function
    ///
    /// A number counts the parts between `/` from 1. The words are those of `compare --pivot`: group (the first part), function (the second), input
    /// (the rest), part1, part2, ..., target, package, id.
    #[arg(long, value_name = "PART", value_parser = parse_ranked_dimension)]
    by: Option<Dimension>,
    /// Measure all others beside this benchmark, given by its id or its part of the id [default: the fastest]
    #[arg(long, value_name = "BENCHMARK")]
    against: Option<String>,
    #[command(flatten)]
    paired: PairedOptions,
    #[command(flatten)]
    reports: ReportOptions,
}

/// Carries out `cargo perfcheck rank`.
pub fn rank(
    options: &RankOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.reports.refuse(
        |kind| matches!(kind, RequestedReportKind::Table(_) | RequestedReportKind::Page),
        "a ranking has no verdicts\n  help: text, csv and markdown-table write its table, html writes a page",
    )?;
    options.reports.check(common.output.format)?;
    let paired = &options.paired;
    let load = perfcheck_host::load_average();
    let context = Context::load(common, world)?.with_command_line(paired.layer());
    let timeout = timeout(paired.timeout, &context);
    let is_kept = !world.variables.no_rerun;
    let filter = Filter {
        words: options.filters.clone(),
        exact: options.exact,
    };
    let tree = WorkTree::build(&context, common, &filter, timeout, is_kept, world)?;
    if tree.found.is_empty() {
        return Err(nothing_found_error(&filter, &tree.found));
    }
    let has_failed_targets = !tree.found.failures.is_empty();
    let relinking = match &tree.build {
        Ok(build) => {
            let targets = build.targets.iter();
            let both = targets.map(|target| BySide {
                base: target,
                candidate: target,
            });
            Relinking::plan(both, paired.effort.as_built, world)?
        }
        Err(_) if paired.effort.as_built => Relinking::Unwanted,
        Err(_) => Relinking::Impossible("it was not built in the cache"),
    };
    let selected = form_groups(options, tree.found)?;
    let comparison = paired.comparison();
    let call = RankCall {
        options,
        environment: &tree.environment,
        relinking,
        request: Request {
            context: &context,
            common,
            filter: &filter,
            comparison: &comparison,
            effort: paired.effort,
            timeout,
            load,
            seed: paired.seed.unwrap_or_else(perfcheck_host::fresh_seed),
            git: None,
        },
        remarks: Vec::new(),
    };
    let mut findings = call.rank(selected.groups, world)?;
    findings.left_out = selected.left_out;
    let mut rows = findings.groups.iter().flat_map(|group| &group.rows);
    let has_failed = rows.any(|row| row.standing == Standing::Failed);
    let exit_code = if has_failed_targets || has_failed {
        ExitCode::BenchmarkFailed
    } else {
        ExitCode::Clean
    };
    findings.exit_code = exit_code.number();
    // Write the pages even if a table could not be written.
    let written = write_tables(options, &findings, common, world);
    let workspace = workspace_name(&context);
    written.and(write_pages(options, &findings, &workspace, world))?;
    Ok(exit_code)
}

/// Writes the page about the rankings to each requested place.
fn write_pages(
    options: &RankOptions,
    findings: &RankFindings,
    workspace: &str,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let mut result = Ok(());
    for place in options.reports.pages() {
        let written = write_page_result(place, world, |writer| {
            write_ranking_page(writer, findings, workspace)
        });
        result = result.and(written);
    }
    result
}

/// Writes the rankings to stdout, unless a report replaces them there, and as tables to each requested file.
fn write_tables(
    options: &RankOptions,
    findings: &RankFindings,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let output = &common.output;
    let mut result = Ok(());
    if !options.reports.replaces_table() {
        let columns = output.view().columns;
        result = write_result(None, world, |writer| {
            write_ranking(writer, findings, output.format, TableFormat::Text, columns)
        });
    }
    for (form, file) in options.reports.tables() {
        let columns = output.view_in(file).columns;
        let written = write_result(file, world, |writer| {
            write_ranking(writer, findings, MessageFormat::Human, form, columns)
        });
        result = result.and(written);
    }
    result
}

/// A call of `rank`, whose build is complete.
struct RankCall<'a> {
    options: &'a RankOptions,
    environment: &'a Environment,
    relinking: Relinking,
    request: Request<'a>,
    remarks: Vec<String>,
}

/// How one measurement of all groups is carried out.
struct MeasurementRules<'r> {
    /// A name that distinguishes the random choices of this measurement from those of the others.
    name: &'r str,
    /// The measurement ends after this many rounds. `None` means that the settings and the data decide.
    rounds: Option<u32>,
    /// Number of measurements that share the significance level.
    sharing: u32,
}

/// The rounds of one measurement.
struct MeasuredGroups {
    rounds: BTreeMap<BenchmarkKey, Vec<Round>>,
    /// The failed rounds of each benchmark. Either the benchmark or the reference failed.
    failures: BTreeMap<BenchmarkKey, Vec<Failure>>,
    metrics: BTreeMap<BenchmarkKey, Metric>,
    start_ups: BTreeMap<BenchmarkKey, Nanos>,
    thresholds: BTreeMap<BenchmarkKey, f64>,
    costs: Vec<BenchmarkCost>,
    plan: Plan,
}

impl MeasuredGroups {
    /// Returns the rounds by which a benchmark is judged. There are none if too few succeeded.
    fn rounds_to_judge(&self, key: &BenchmarkKey) -> &[Round] {
        let rounds = self.rounds.get(key).map_or(&[][..], Vec::as_slice);
        if Plan::has_enough_rounds(rounds.len(), self.failures_of(key).len()) {
            rounds
        } else {
            &[]
        }
    }

    fn failures_of(&self, key: &BenchmarkKey) -> &[Failure] {
        self.failures.get(key).map_or(&[][..], Vec::as_slice)
    }

    fn find_cost(&self, key: &BenchmarkKey) -> Option<&BenchmarkCost> {
        self.costs.iter().find(|cost| cost.key == *key)
    }

    /// Returns the visit in which a benchmark or its reference declined.
    fn find_skip(&self, key: &BenchmarkKey) -> Option<&SkippedVisit> {
        self.find_cost(key)?.skipped.as_ref()
    }
}

impl RankCall<'_> {
    /// Measures and ranks the benchmarks of all groups.
    fn rank(
        mut self,
        mut groups: Vec<CompetitorGroup>,
        world: &mut World<'_>,
    ) -> Result<RankFindings, AppError> {
        let significance_level = self.request.paired_decision().significance_level;
        let lock = self.request.measuring_lock(world)?;
        let is_fixed = self.options.against.is_some();
        if !is_fixed {
            self.choose_references(&mut groups, world)?;
        }
        let words = count_benchmarks(&groups);
        self.request.announce("Ranking", &words, world)?;
        let sharing = if is_fixed { 1 } else { MEASUREMENTS };
        let rules = MeasurementRules {
            name: "ranking",
            rounds: None,
            sharing,
        };
        let found = self.measure(groups.iter(), &rules, world)?;
        let ranked = judge_groups(&groups, &found, world);
        let mut results: Vec<RankedGroup> = (groups.iter().zip(&ranked))
            .map(|(group, ranking)| report_group(group, ranking, &found, None))
            .collect();
        let faster: Vec<Option<usize>> = (groups.iter().zip(&ranked))
            .map(|(group, ranking)| find_faster(group, ranking).filter(|_| !is_fixed))
            .collect();
        if faster.iter().any(Option::is_some) && self.has_time_for_another(&found) {
            let mut repeated = Vec::new();
            for ((place, group), faster) in groups.into_iter().enumerate().zip(faster) {
                if let Some(reference) = faster {
                    repeated.push((place, CompetitorGroup { reference, ..group }));
                }
            }
            let (places, groups): (Vec<usize>, Vec<CompetitorGroup>) = repeated.into_iter().unzip();
            let words = format!("{} beside a faster one", count_benchmarks(&groups));
            self.request.announce("Repeating", &words, world)?;
            let rules = MeasurementRules {
                name: "repetition",
                rounds: None,
                sharing,
            };
            let found = self.measure(groups.iter(), &rules, world)?;
            let ranked = judge_groups(&groups, &found, world);
            for ((place, group), ranking) in places.into_iter().zip(&groups).zip(&ranked) {
                let replaced = results[place].reference.clone();
                results[place] = report_group(group, ranking, &found, Some(replaced));
            }
        }
        drop(lock);
        Ok(RankFindings {
            groups: results,
            significance_level,
            left_out: 0,
            remarks: self.remarks,
            seed: self.request.seed,
            exit_code: ExitCode::Clean.number(),
        })
    }

    /// Looks at the benchmarks of each group beside the first of them, and makes the fastest the reference. If nothing can be measured beside the
    /// first one because it fails or declines, looks again beside another one.
    fn choose_references(
        &mut self,
        groups: &mut [CompetitorGroup],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let words = format!("for the fastest of {}", count_benchmarks(groups));
        self.request.announce("Looking", &words, world)?;
        let rules = MeasurementRules {
            name: "first-look",
            rounds: Some(ROUNDS_OF_FIRST_LOOK),
            sharing: 1,
        };
        let mut left: Vec<&mut CompetitorGroup> = groups.iter_mut().collect();
        while !left.is_empty() {
            let found = self.measure(left.iter().map(|group| &**group), &rules, world)?;
            left.retain_mut(|group| match find_fastest(group, &found) {
                Some(fastest) => {
                    group.reference = fastest;
                    false
                }
                None => group.replace_unfit_reference(&found),
            });
        }
        Ok(())
    }

    /// Measures every benchmark side by side with the reference of its group.
    fn measure<'g>(
        &mut self,
        groups: impl Iterator<Item = &'g CompetitorGroup>,
        rules: &MeasurementRules<'_>,
        world: &mut World<'_>,
    ) -> Result<MeasuredGroups, AppError> {
        let mut pairs = pair_with_references(groups);
        let seed = derived_seed(self.request.seed, &format!("rank/{}", rules.name));
        let remark = self.relinking.prepare(&mut pairs, seed, world);
        for remark in remark.iter().map(describe_run_remark) {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        let benchmarks = pairs.iter().flat_map(|pair| &pair.benchmarks);
        let usual = PairedMeasurement::new(
            &self.request,
            self.environment,
            BySide::default(),
            benchmarks.clone().count(),
        );
        let thresholds = benchmarks
            .map(|benchmark| (benchmark.key.clone(), usual.noise_threshold(benchmark)))
            .collect();
        // The level of a plan applies to each of the two directions, so each gets half of it.
        let shares = f64::from(2 * rules.sharing);
        let plan = Plan {
            looks: match rules.rounds {
                Some(rounds) => vec![rounds],
                None => usual.plan.looks.clone(),
            },
            significance_level: usual.plan.significance_level / shares,
            seed,
            ..usual.plan.clone()
        };
        let measurement = PairedMeasurement {
            plan: plan.clone(),
            ..usual
        };
        let mut recorded = RecordedRounds::default();
        let mut record = |side, process: &ProcessRecord| {
            recorded.record(side, process);
            Ok(())
        };
        let result = measurement.run_rounds(pairs, &mut record, "", world)?;
        if result.end == CampaignEnd::Interrupted {
            return Err(AppError::Interrupted(String::new()));
        }
        // The tool itself causes most of the load from now on.
        self.request.load = None;
        let spent = total_time(&result.costs);
        let budget = &mut self.request.effort.time_budget;
        *budget = budget.map(|budget| budget.saturating_sub(spent));
        let failures = std::mem::take(&mut recorded.failures);
        let metrics = std::mem::take(&mut recorded.metrics);
        let start_ups = std::mem::take(&mut recorded.start_ups);
        Ok(MeasuredGroups {
            rounds: recorded.rounds(),
            failures,
            metrics,
            start_ups,
            thresholds,
            costs: result.costs,
            plan,
        })
    }

    /// Reports whether the time budget leaves time for a repetition. With less than half of the time that the measurement took, the repetition
    /// would decide less than the measurement did.
    fn has_time_for_another(&self, measured: &MeasuredGroups) -> bool {
        let left = self.request.effort.time_budget;
        left.is_none_or(|left| left >= total_time(&measured.costs) / 2)
    }
}

/// Says how many benchmarks the groups have.
fn count_benchmarks(groups: &[CompetitorGroup]) -> String {
    let benchmarks = groups.iter().map(|group| group.competitors.len()).sum();
    let benchmarks = counted(benchmarks, "benchmark");
    match groups {
        [_] => benchmarks,
        _ => format!("{benchmarks} in {}", counted(groups.len(), "group")),
    }
}

fn total_time(costs: &[BenchmarkCost]) -> Duration {
    costs.iter().map(|spent| spent.time).sum()
}

/// Returns the competitor that seems fastest after a first look. Returns `None` if nothing was measured beside the reference of that look.
fn find_fastest(group: &CompetitorGroup, found: &MeasuredGroups) -> Option<usize> {
    let ratios = group.rivals().filter_map(|(place, rival)| {
        let rounds = found.rounds.get(rival.key());
        let ratios = rounds.into_iter().flatten().filter_map(log_ratio);
        Some((place, median(&ratios.collect::<Vec<_>>())?))
    });
    let fastest = ratios.min_by(|(_, a), (_, b)| a.total_cmp(b));
    fastest.map(|(place, ratio)| if ratio < 0.0 { place } else { group.reference })
}

/// Returns the logarithm of the ratio of the quickest samples of a round.
fn log_ratio(round: &Round) -> Option<f64> {
    let quickest = |side| Sample::quickest_ns(round.samples(side)).ln();
    let ratio = quickest(Side::Candidate) - quickest(Side::Base);
    ratio.is_finite().then_some(ratio)
}

/// Returns the competitor that proved faster than the reference, and the fastest if there are several.
fn find_faster(group: &CompetitorGroup, ranking: &Ranking) -> Option<usize> {
    let rivals = group.rivals().map(|(place, _)| place);
    let faster = rivals.zip(&ranking.others).filter_map(|(place, ranked)| {
        let change = ranked.comparison.change?;
        (ranked.standing == Standing::Faster).then_some((place, change.estimate))
    });
    let fastest = faster.min_by(|(_, a), (_, b)| a.total_cmp(b));
    fastest.map(|(place, _)| place)
}

/// Ranks the benchmarks of each group. All groups share the significance level.
fn judge_groups(
    groups: &[CompetitorGroup],
    found: &MeasuredGroups,
    world: &World<'_>,
) -> Vec<Ranking> {
    let rank = |group: &CompetitorGroup| {
        let all_series: Vec<PairedSeries<'_>> = (group.rivals())
            .map(|(_, rival)| {
                let key = rival.key();
                PairedSeries {
                    key,
                    metric: found.metrics.get(key).unwrap_or(&rival.benchmark.metric),
                    rounds: found.rounds_to_judge(key),
                    noise_threshold: found.thresholds[key],
                }
            })
            .collect();
        rank_beside_reference(&all_series, &found.plan)
    };
    (world.interrupt).while_computing("", || groups.iter().map(rank).collect())
}

/// Returns the findings about a group, with the fastest benchmark first. `replaced` is the reference of an earlier measurement.
fn report_group(
    group: &CompetitorGroup,
    ranking: &Ranking,
    found: &MeasuredGroups,
    replaced: Option<BenchmarkKey>,
) -> RankedGroup {
    let reference = &group.competitors[group.reference];
    let compared = ranking.others.iter();
    let values = compared.filter_map(|ranked| Some(ranked.comparison.compared?.base));
    let value_ns = median(&values.collect::<Vec<_>>());
    let rivals = group.rivals().zip(&ranking.others);
    let rivals =
        rivals.map(|((_, rival), ranked)| report_rival(group, rival, ranked, value_ns, found));
    let mut rows = vec![unmeasured_row(group, reference)];
    rows.extend(rivals);
    if rows.iter().any(|row| row.rank.is_some()) {
        rows[0].rank = Some(ranking.reference);
        rows[0].value_ns = value_ns;
    } else {
        explain_unmeasured_reference(&mut rows[0], group, found);
    }
    // Benchmarks without a rank come last, and the reference is the first of its rank.
    let rank = |row: &RankedRow| row.rank.unwrap_or(usize::MAX);
    let estimate = |row: &RankedRow| {
        row.change
            .map_or(f64::NEG_INFINITY, |change| change.estimate)
    };
    rows.sort_by(|a, b| {
        let by_rank = rank(a).cmp(&rank(b));
        by_rank.then(estimate(a).total_cmp(&estimate(b)))
    });
    let start_ups = group.rivals();
    let start_ups = start_ups.filter_map(|(_, rival)| found.start_ups.get(rival.key()));
    RankedGroup {
        name: group.name.clone(),
        reference: reference.key().clone(),
        replaced,
        start_up_ns: start_ups.min().copied().map(Nanos::as_f64),
        rows,
    }
}

/// Says in the row of a reference why nothing was measured beside it, if the reference itself is the cause.
fn explain_unmeasured_reference(
    row: &mut RankedRow,
    group: &CompetitorGroup,
    found: &MeasuredGroups,
) {
    let rivals = || group.rivals().map(|(_, rival)| rival.key());
    let mut failures = rivals().flat_map(|rival| found.failures_of(rival));
    let mut skips = rivals().filter_map(|rival| found.find_skip(rival));
    if let Some(failure) = failures.find(|failure| failure.side == Side::Base) {
        row.standing = Standing::Failed;
        row.failure = Some(failure.message.clone());
    } else if let Some(skipped) = skips.find(|skipped| skipped.side == Side::Base) {
        row.standing = Standing::Skipped;
        row.skipped = Some(skipped.reason.clone());
    }
}

/// Returns the findings about a benchmark that was measured beside the reference, an iteration of which takes `reference_ns`.
fn report_rival(
    group: &CompetitorGroup,
    rival: &Competitor,
    ranked: &RankedBenchmark,
    reference_ns: Option<f64>,
    found: &MeasuredGroups,
) -> RankedRow {
    let comparison = &ranked.comparison;
    let cost = found.find_cost(rival.key());
    let change = comparison.change;
    let failure = found.failures_of(rival.key()).first();
    let skipped = found.find_skip(rival.key());
    let standing = match ranked.standing {
        Standing::Failed if failure.is_none() && skipped.is_some() => Standing::Skipped,
        standing => standing,
    };
    let failure = failure.filter(|_| standing == Standing::Failed);
    let skipped = skipped.filter(|skipped| skipped.side == Side::Candidate);
    RankedRow {
        rank: ranked.rank,
        standing,
        value_ns: reference_ns
            .zip(change)
            .map(|(reference_ns, change)| reference_ns * (1.0 + change.estimate)),
        change,
        noise_threshold: Some(comparison.noise_threshold),
        slow_side: comparison.slow_side(),
        rounds: Some(comparison.extent.processes_candidate()),
        layouts: (ranked.rank.is_some()).then(|| comparison.extent.layouts()),
        seconds: cost.map(|cost| cost.time.as_secs_f64()),
        skipped: skipped.map(|skipped| skipped.reason.clone()),
        failure: failure.map(|failure| describe_failure(failure.side, &failure.message)),
        notes: comparison.notes.clone(),
        ..unmeasured_row(group, rival)
    }
}

/// Returns the row of a reference beside which nothing was measured.
fn unmeasured_row(group: &CompetitorGroup, competitor: &Competitor) -> RankedRow {
    RankedRow {
        group: group.name.clone(),
        key: competitor.key().clone(),
        label: competitor.label.clone(),
        rank: None,
        standing: Standing::Reference,
        metric: competitor.benchmark.metric.clone(),
        value_ns: None,
        change: None,
        noise_threshold: None,
        slow_side: None,
        rounds: None,
        layouts: None,
        seconds: None,
        skipped: None,
        failure: None,
        notes: Vec::new(),
    }
}

/// A selected benchmark, with the executable that has it.
struct Competitor {
    benchmark: Benchmark,
    target: BenchTarget,
    harness: HarnessKind,
    /// The text that distinguishes the benchmark from the others of its group.
    label: String,
}

impl Competitor {
    fn key(&self) -> &BenchmarkKey {
        &self.benchmark.key
    }
}

/// Benchmarks that are ranked with each other.
struct CompetitorGroup {
    /// The common part of the ids; empty if all selected benchmarks form one group.
    name: String,
    competitors: Vec<Competitor>,
    /// Index of the competitor beside which the others are measured.
    reference: usize,
    /// Indices of the competitors that failed or declined in first looks.
    unfit: BTreeSet<usize>,
}

impl CompetitorGroup {
    /// Returns all competitors but the reference, each with its index.
    fn rivals(&self) -> impl Iterator<Item = (usize, &Competitor)> {
        let reference = self.reference;
        let all = self.competitors.iter().enumerate();
        all.filter(move |(place, _)| *place != reference)
    }

    /// Makes another competitor the reference if the present one failed or declined. Reports whether there was another one that did not.
    fn replace_unfit_reference(&mut self, found: &MeasuredGroups) -> bool {
        let reference = self.reference;
        let unfit = self.rivals().flat_map(|(place, rival)| {
            let failures = found.failures_of(rival.key()).iter();
            let failed = failures.map(|failure| failure.side);
            let skipped = found.find_skip(rival.key()).map(|skipped| skipped.side);
            failed.chain(skipped).map(move |side| match side {
                Side::Base => reference,
                Side::Candidate => place,
            })
        });
        let unfit: Vec<usize> = unfit.collect();
        self.unfit.extend(unfit);
        if !self.unfit.contains(&reference) {
            return false;
        }
        let mut places = 0..self.competitors.len();
        let fit = places.find(|place| !self.unfit.contains(place));
        self.reference = fit.unwrap_or(reference);
        fit.is_some()
    }

    /// Fails if the benchmarks cannot be measured side by side.
    fn check(&self) -> Result<(), AppError> {
        let first = &self.competitors[0];
        let size = self.competitors.len();
        if size > LARGEST_GROUP {
            return Err(AppError::Usage(format!(
                "{size} benchmarks are too many for one ranking; at most {LARGEST_GROUP} can be ranked with each other\n  help: select fewer with a filter, or form groups with `--by`"
            )));
        }
        for other in &self.competitors {
            if let HarnessKind::Criterion(_) = other.harness {
                return Err(AppError::Usage(format!(
                    "`{}` runs on Criterion itself, which cannot measure two benchmarks side by side\n  help: leave out `--harness as-is`, or show stored numbers: cargo perfcheck compare latest --group-by REGEX",
                    full_name(other.key())
                )));
            }
            let difference = if !first.harness.is_alike(&other.harness) {
                "run on different harnesses"
            } else if first.benchmark.metric != other.benchmark.metric {
                "measure different metrics"
            } else {
                continue;
            };
            return Err(AppError::Usage(format!(
                "`{}` and `{}` cannot be ranked with each other, because they {difference}\n  help: select one kind of benchmarks, e.g. with `--bench`",
                full_name(first.key()),
                full_name(other.key())
            )));
        }
        Ok(())
    }

    /// Chooses the benchmark with this id or label as the reference.
    fn choose_reference(&mut self, word: &str) -> Result<(), AppError> {
        let is_named = |one: &Competitor| {
            one.label == word || one.key().id == word || full_name(one.key()) == word
        };
        if let Some(place) = self.competitors.iter().position(is_named) {
            self.reference = place;
            return Ok(());
        }
        let of = if self.name.is_empty() {
            "the selected benchmarks".to_owned()
        } else {
            format!("the benchmarks of `{}`", self.name)
        };
        let keys: Vec<&BenchmarkKey> = self.competitors.iter().map(Competitor::key).collect();
        Err(AppError::Usage(format!(
            "none of {of} is called `{word}`{}",
            list_keys("they are:", &keys)
        )))
    }
}

/// The groups of the selected benchmarks.
struct SelectedGroups {
    groups: Vec<CompetitorGroup>,
    /// Number of selected benchmarks that are in no group.
    left_out: usize,
}

/// Divides the selected benchmarks into groups, as `--by` says, and sets the reference that `--against` names.
fn form_groups(
    options: &RankOptions,
    found: DiscoveredBenches,
) -> Result<SelectedGroups, AppError> {
    let all = found.targets.iter().flat_map(|found| &found.benchmarks);
    let all: Vec<BenchmarkKey> = all.map(|benchmark| benchmark.key.clone()).collect();
    let by = options.by.as_ref().unwrap_or(&Dimension::Id);
    let mut members: BTreeMap<BenchmarkKey, Vec<Competitor>> = BTreeMap::new();
    for found in found.targets {
        for benchmark in found.benchmarks {
            let key = &benchmark.key;
            let Some(common) = find_common_part(by, key) else {
                continue;
            };
            let label = match by {
                Dimension::Id => unambiguous_word(key, &all),
                _ => by.label("", key, None),
            };
            members.entry(common).or_default().push(Competitor {
                label,
                benchmark,
                target: found.target.clone(),
                harness: found.harness.clone(),
            });
        }
    }
    members.retain(|_, competitors| competitors.len() > 1);
    let ranked: usize = members.values().map(Vec::len).sum();
    let names: Vec<BenchmarkKey> = members.keys().cloned().collect();
    let mut members: Vec<(BenchmarkKey, Vec<Competitor>)> = members.into_iter().collect();
    members.sort_by(|(a, _), (b, _)| a.cmp_natural(b));
    let mut groups = Vec::new();
    for (common, competitors) in members {
        let mut group = CompetitorGroup {
            name: match by {
                Dimension::Id => String::new(),
                _ => unambiguous_word(&common, &names),
            },
            competitors,
            reference: 0,
            unfit: BTreeSet::new(),
        };
        group.check()?;
        if let Some(word) = &options.against {
            group.choose_reference(word)?;
        }
        groups.push(group);
    }
    if groups.is_empty() {
        let keys: Vec<&BenchmarkKey> = all.iter().collect();
        let why = if all.len() > 1 {
            format!("no two of the selected benchmarks differ only in {by}")
        } else {
            "a ranking needs at least two benchmarks".to_owned()
        };
        return Err(AppError::Usage(format!(
            "{why}{}",
            list_keys("the filter selects:", &keys)
        )));
    }
    Ok(SelectedGroups {
        groups,
        left_out: all.len() - ranked,
    })
}

/// Returns what a benchmark has in common with the benchmarks that differ from it in this dimension: its key with `*` in place of the dimension.
/// `None` if its id does not have the dimension.
fn find_common_part(by: &Dimension, key: &BenchmarkKey) -> Option<BenchmarkKey> {
    let star = || "*".to_owned();
    let mut common = key.clone();
    let mut parts: Vec<&str> = key.id.split('/').collect();
    match by {
        Dimension::Package => common.package = star(),
        Dimension::Target => common.target = star(),
        Dimension::Id => {
            common = BenchmarkKey {
                package: star(),
                target: star(),
                id: star(),
            };
        }
        Dimension::Part(at) => {
            *parts.get_mut(*at)? = "*";
            common.id = parts.join("/");
        }
        Dimension::From(at) if *at < parts.len() => {
            parts.truncate(*at);
            parts.push("*");
            common.id = parts.join("/");
        }
        Dimension::From(_) | Dimension::Run | Dimension::Named(_) => return None,
    }
    Some(common)
}

/// Pairs each benchmark with the reference of its group.
fn pair_with_references<'g>(
    groups: impl Iterator<Item = &'g CompetitorGroup>,
) -> Vec<PairedTarget> {
    let mut pairs: BTreeMap<(TargetName, TargetName), PairedTarget> = BTreeMap::new();
    for group in groups {
        let reference = &group.competitors[group.reference];
        for (_, rival) in group.rivals() {
            let names = [reference, rival].map(|one| TargetName::from_target(&one.target));
            let pair = pairs.entry(names.into()).or_insert_with(|| PairedTarget {
                targets: BySide {
                    base: reference.target.clone(),
                    candidate: rival.target.clone(),
                },
                benchmarks: Vec::new(),
                base_ids: BTreeMap::new(),
                harnesses: BySide {
                    base: reference.harness.clone(),
                    candidate: rival.harness.clone(),
                },
                layouts: None,
            });
            let base_id = reference.key().id.clone();
            pair.base_ids.insert(rival.key().id.clone(), base_id);
            pair.benchmarks.push(rival.benchmark.clone());
        }
    }
    pairs.into_values().collect()
}

/// Parses the value of `--by`: the number of a part, or a dimension as in `compare --pivot`.
fn parse_ranked_dimension(text: &str) -> Result<Dimension, String> {
    let is_number = text.parse::<usize>().is_ok();
    let word = if is_number {
        format!("part{text}")
    } else {
        text.to_owned()
    };
    match word.parse::<Dimension>()? {
        dimension @ (Dimension::Run | Dimension::Named(_)) => Err(format!(
            "`{dimension}` does not distinguish benchmarks of one build; use one of{}",
            Dimension::WORDS.trim_start_matches("run,")
        )),
        dimension => Ok(dimension),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(target: &str, id: &str) -> BenchmarkKey {
        BenchmarkKey {
            package: "p".into(),
            target: target.into(),
            id: id.into(),
        }
    }

    #[test]
    fn benchmarks_have_in_common_all_but_the_part_that_is_ranked() {
        let common = |word: &str, id: &str| {
            let by = parse_ranked_dimension(word).expect("a dimension");
            find_common_part(&by, &key("t", id)).map(|common| (common.target, common.id))
        };
        let found = |target: &str, id: &str| Some((target.to_owned(), id.to_owned()));
        let id = "parse/simd/100/hot";
        assert_eq!(common("2", id), found("t", "parse/*/100/hot"));
        assert_eq!(common("function", id), common("2", id));
        assert_eq!(common("input", id), found("t", "parse/simd/*"));
        assert_eq!(common("part4", id), found("t", "parse/simd/100/*"));
        assert_eq!(common("target", id), found("*", id));
        assert_eq!(common("id", id), found("*", "*"));
        assert_eq!(common("5", id), None);
        assert_eq!(common("input", "parse/simd"), None);
    }

    #[test]
    fn what_does_not_distinguish_benchmarks_of_a_build_is_refused_with_what_does() {
        for (word, message) in [
            ("run", "`run` does not distinguish"),
            ("speed", "use one of package, target, id, group"),
            ("0", "numbered from 1"),
        ] {
            let refused = parse_ranked_dimension(word).expect_err(word);
            assert!(refused.contains(message), "{word}: {refused}");
        }
    }
}
