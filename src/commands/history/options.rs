//! Options of `history`.

use clap::Args;

use crate::options::{PairedOptions, RevisionRange, statistic_parser, word_parser};
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::model::{BenchesFrom, Statistic, StatisticSet, Verdict};
use perfcheck_bench::measure::Filter;

const AFTER_HISTORY: &str = "\
Without FILTER or flags that select runs, history lists every stored benchmark with its latest time and verdict.

With --measure, history first measures commits that nobody measured: those of the range, or N+1 of them (--steps N), or the releases (--releases). Each is \
built in the cache and measured side by side with its older neighbor; your work tree is untouched. --time-budget limits the whole series. --refine then searches for \
the commit of each change as `bisect` does. A table of the changes precedes the history.

The value of a run is the 1st percentile of its fastest process or, if any process has fewer than 100 samples, the mean of the process medians. A level is a \
series of runs with neither a change point (E-divisive, p <= 0.001, at least four runs on each side) nor an accepted change between them. If nothing changed, \
the newest run is within the expected range with 99.8 % probability. The exit status does not depend on the result.

Examples:
  cargo perfcheck history                       list all benchmarks with their latest times
  cargo perfcheck history sort/10               show one benchmark, run by run
  cargo perfcheck history sort                  show one line for each benchmark with `sort` in its id
  cargo perfcheck history json --since 90d --branch main
  cargo perfcheck history sort/10 --message-format json
  cargo perfcheck history --metric size         show the sizes of all executables
  cargo perfcheck history --measure v1.0..HEAD --steps 20 --refine
                                                measure 21 commits, then find the commit of each change
  cargo perfcheck history parse --measure v1.0..HEAD --releases --time-budget 120min

Exit status: 0 success; 2 usage error or no such benchmark; 5 store unusable; with --measure, 3 build failed, 4 no commit could be measured, 130 interrupted.";

/// Options of `history`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HISTORY)]
pub struct HistoryOptions {
    /// Show only benchmarks whose id contains one of these words; a complete id selects only that benchmark
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Show runs of this branch [default: the current branch or, if it has no runs, the branch it forked from]
    #[arg(long, value_name = "NAME")]
    pub(super) branch: Option<String>,
    /// Show runs of all branches
    #[arg(long, conflicts_with = "branch")]
    pub(super) all_branches: bool,
    /// Show at most the newest N runs of each benchmark [default: 50]
    #[arg(long, value_name = "N", value_parser = parse_run_count)]
    last: Option<usize>,
    /// Show only runs since this date or of at most this age, e.g. 2026-01-31 or 90d
    #[arg(long, value_name = "WHEN")]
    pub(super) since: Option<String>,
    /// Show this metric of each run [default: time]
    ///
    /// Except for time and build-time, the value of a run is what it measured itself, also if it was measured side by side. Runs without the metric are
    /// left out.
    #[arg(long, value_name = "METRIC", value_parser = statistic_parser(StatisticSet::Histories))]
    metric: Option<Statistic>,
    /// Show runs in one history even if these facts differ, e.g. rustc,profile
    #[arg(long, value_name = "FACTS", value_delimiter = ',', value_parser = str::parse::<Fact>)]
    pub(super) allow_different: Vec<Fact>,
    /// Show only benchmarks whose latest verdict is one of these (comma-separated); not with FILTER or flags that select runs
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = str::parse::<Verdict>,
        conflicts_with_all = ["filters", "branch", "all_branches", "last", "since", "metric", "allow_different"])]
    pub(super) verdict: Vec<Verdict>,
    #[command(flatten)]
    pub(super) measuring: MeasureOptions,
}

impl HistoryOptions {
    pub(super) fn filter(&self) -> Filter {
        Filter {
            words: self.filters.clone(),
            exact: self.exact,
        }
    }

    /// Reports whether the command measures before it shows the history.
    pub fn measures(&self) -> bool {
        self.measuring.measure.is_some()
    }

    /// Returns how many of the newest runs of each benchmark are shown at most.
    pub(super) fn limit(&self) -> usize {
        self.last.unwrap_or(USUAL_LAST)
    }

    /// Returns the metric that the history shows. The metric of a build is its time.
    pub(super) fn metric(&self) -> Statistic {
        let metric = self.metric.filter(|_| !self.is_about_builds());
        metric.unwrap_or(Statistic::Time)
    }

    /// Reports whether the history shows only builds.
    pub(super) fn is_about_builds(&self) -> bool {
        self.metric == Some(Statistic::BuildTime)
    }

    /// Returns true if no option selects runs or benchmarks. In that case, the command lists all benchmarks.
    pub(super) fn is_overview(&self) -> bool {
        self.filters.is_empty()
            && self.branch.is_none()
            && !self.all_branches
            && self.last.is_none()
            && self.since.is_none()
            && self.metric.is_none()
            && self.allow_different.is_empty()
    }
}

/// Default number of runs shown of each benchmark.
const USUAL_LAST: usize = 50;

/// Parses a number of runs. The number is limited because the search for change points takes quadratic time.
fn parse_run_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(runs @ 1..=200) => Ok(runs),
        _ => Err("expected 1 to 200 runs".to_owned()),
    }
}

/// Options of `history --measure`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measuring the past")]
pub struct MeasureOptions {
    /// First measure commits of this range side by side, e.g. v1.0..HEAD; commits that were measured before are not measured again
    ///
    /// Each chosen commit is measured side by side with its older neighbor, newest first. Commits with the same code as their neighbor are not
    /// measured, and commits that cannot be built are passed over. In the history, each commit stands at its own time. The same command continues
    /// after an interruption.
    #[arg(long, value_name = "A..B", value_parser = str::parse::<RevisionRange>,
        conflicts_with_all = ["branch", "all_branches", "last", "since", "allow_different", "verdict"])]
    pub(super) measure: Option<RevisionRange>,
    /// With --measure: choose N+1 commits, spread evenly over the range [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200), conflicts_with = "releases")]
    pub(super) steps: Option<u32>,
    /// With --measure: choose the commits that have a tag, and both ends of the range
    #[arg(long)]
    pub(super) releases: bool,
    /// With --measure: find the commit of each change between two measured commits
    #[arg(long)]
    pub(super) refine: bool,
    /// With --measure: try commits again that could not be built or measured
    #[arg(long)]
    pub(super) restart: bool,
    /// With --measure: build commits with their own benchmarks or with those of the work tree
    #[arg(long, value_name = "SIDE", default_value = "revision", value_parser = word_parser::<BenchesFrom>(BenchesFrom::WORDS))]
    pub(super) benches_from: BenchesFrom,
    #[command(flatten)]
    pub(super) paired: PairedOptions,
}
