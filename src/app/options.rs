//! What the user asked for, in plain values.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::AppError;
use crate::report::{MessageFormat, RowOrder, Verbosity, View};
use crate::settings::{Tables, WorkspaceOnly};
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::findings::{Limit, Order};
use perfcheck_analysis::model::{
    Analysis, DecisionSettings, FamilyRule, Observations, Outliers, QuantileRule, RankP,
    SampleFilter, Statistic, System, Test, Thresholds, Verdict,
};
use perfcheck_engine::cargo::CargoOptions;

/// With which store and workspace, and how to print.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The database; `None`: the user's.
    pub store: Option<PathBuf>,
    /// How to print.
    pub output: OutputOptions,
    /// How to ask cargo about the workspace, and what to build.
    pub cargo: CargoOptions,
}

/// How to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputOptions {
    /// Results only.
    pub quiet: bool,
    /// How much of the results.
    pub verbosity: Verbosity,
    /// Show benchmarks with these verdicts alone.
    pub only: Option<Vec<Verdict>>,
    /// For people or for machines.
    pub format: MessageFormat,
    /// In which order; `None` where the user chose none.
    pub sort: Option<Order>,
}

impl OutputOptions {
    /// How results are laid out on stdout.
    pub(super) fn view(&self) -> View {
        View::of_stdout(self.verbosity, self.sort, self.only.clone())
    }

    /// The order of results.
    pub(super) fn order(&self) -> Order {
        self.sort.unwrap_or(Order::Name)
    }

    /// How results are laid out in `file`, or on stdout where that is `-` or none is given.
    pub(super) fn view_in(&self, file: Option<&Path>) -> View {
        let view = self.view();
        match file {
            Some(path) if path != Path::new("-") => View {
                columns: usize::MAX,
                screenful: usize::MAX,
                arrangement: match view.arrangement {
                    RowOrder::Groups => RowOrder::Targets,
                    other => other,
                },
                ..view
            },
            _ => view,
        }
    }

    /// Whether a benchmark with this verdict is to be shown.
    pub(super) fn shows(&self, verdict: Option<Verdict>) -> bool {
        let Some(only) = &self.only else {
            return true;
        };
        verdict.is_some_and(|verdict| only.contains(&verdict))
    }
}

/// Verdicts that make the exit status 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailOn(pub Vec<Verdict>);

/// Which of the published systems' statistics are wanted; `None`: as the method says, else the project's own.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AnalysisOptions {
    /// The system whose conventions hold where nothing else is said.
    pub method: Option<System>,
    /// Which test decides.
    pub test: Option<Test>,
    /// What counts as one observation of it.
    pub observations: Option<Observations>,
    /// What is done about outliers before the summary, and whether first samples go before that.
    pub outliers: Option<(Outliers, bool)>,
    /// What stands for a launch.
    pub center: Option<Statistic>,
    /// The definition of quantiles.
    pub quantile: Option<QuantileRule>,
    /// What is done about many benchmarks.
    pub correction: Option<FamilyRule>,
    /// How the p of ranks is found.
    pub p: Option<RankP>,
    /// What the verdicts are about.
    pub subject: Option<Statistic>,
}

impl AnalysisOptions {
    /// What was said, over `base`.
    fn over(&self, base: Analysis) -> Analysis {
        let (outliers, drop_first) = self.outliers.unwrap_or((base.outliers, base.drop_first));
        Analysis {
            test: self.test.unwrap_or(base.test),
            observations: self.observations.unwrap_or(base.observations),
            outliers,
            drop_first,
            center: self.center.or(base.center),
            quantile: self.quantile.or(base.quantile),
            correction: self.correction.unwrap_or(base.correction),
            p: self.p.unwrap_or(base.p),
            subject: self.subject.unwrap_or(base.subject),
        }
    }

    /// What the command line says, whatever the workspace says.
    pub(super) fn said(&self) -> Analysis {
        let base = self.method.map(|method| method.decision().analysis);
        self.over(base.unwrap_or_default())
    }
}

/// How a comparison is decided; `None`: as the workspace says, else the default.
#[derive(Debug, Clone, Default)]
pub struct ComparisonOptions {
    /// Relative change that counts as noise, a fraction.
    pub noise_threshold: Option<f64>,
    /// One-sided, family-wise level.
    pub significance_level: Option<f64>,
    /// Level of descriptive intervals.
    pub confidence_level: Option<f64>,
    /// Bootstrap resamples.
    pub resamples: Option<u32>,
    /// Which of the published systems' statistics decide.
    pub analysis: AnalysisOptions,
    /// Rules that benchmarks must keep, beside those of the workspace.
    pub limits: Vec<Limit>,
    /// Verdicts that make the exit status 1.
    pub fail_on: Option<FailOn>,
    /// Facts that may differ.
    pub allow_different: Vec<Fact>,
    /// Base seed.
    pub seed: Option<u64>,
    /// Whether the settings in force are to be told, and nothing else is to be done.
    pub explain: bool,
}

impl ComparisonOptions {
    /// What is left out where runs are described, in place of their own filters; `None`: these hold.
    pub(super) fn filter(&self, workspace: &WorkspaceOnly) -> Option<SampleFilter> {
        let of_method = |system: System| {
            let analysis = system.decision().analysis;
            (analysis.outliers, analysis.drop_first)
        };
        let said = self.analysis.outliers;
        let (outliers, drop_first) = said.or_else(|| self.analysis.method.map(of_method))?;
        let filter = SampleFilter {
            outliers,
            drop_first,
            ..SampleFilter::default()
        };
        Some(filter.at(&self.decision(workspace).thresholds))
    }

    /// The system of the workspace, unless the verdicts are to be about something that other systems do not judge.
    fn usual_method(&self, workspace: &WorkspaceOnly) -> Option<System> {
        workspace.method.filter(|_| self.is_about_time())
    }

    /// The settings in force: flags, what `--method` sets, tables, what the method of the workspace sets, defaults, in this order.
    pub(super) fn decision(&self, workspace: &WorkspaceOnly) -> DecisionSettings {
        let named = self.analysis.method.map(System::decision);
        let usual = self.usual_method(workspace).map(System::decision);
        let default = DecisionSettings::default();
        let mut analysis = self
            .analysis
            .over(named.or(usual).unwrap_or(default).analysis);
        if let (None, None, Some(correction)) =
            (self.analysis.correction, named, workspace.correction)
        {
            analysis.correction = correction;
        }
        let of = |found: Option<DecisionSettings>| {
            found.map_or_else(Thresholds::default, |found| found.thresholds)
        };
        let thresholds = of(named).over(workspace.thresholds.over(of(usual)));
        let default = if analysis.test.is_of_another_system() {
            DecisionSettings {
                significance_level: thresholds.test_level,
                ..default
            }
        } else {
            default
        };
        let usual = usual.unwrap_or(default);
        let level = |of: fn(&DecisionSettings) -> f64, said: Option<f64>, table: Option<f64>| {
            said.or(named.as_ref().map(of))
                .or(table)
                .unwrap_or_else(|| of(&usual))
        };
        DecisionSettings {
            analysis,
            thresholds,
            noise_threshold: level(|found| found.noise_threshold, self.noise_threshold, None),
            significance_level: level(
                |found| found.significance_level,
                self.significance_level,
                workspace.significance_level,
            ),
            confidence_level: level(
                |found| found.confidence_level,
                self.confidence_level,
                workspace.confidence_level,
            ),
            resamples: (self.resamples)
                .or(named.map(|found| found.resamples))
                .or(workspace.resamples)
                .unwrap_or(usual.resamples),
        }
    }

    /// The noise threshold of stored runs that the command line asks for.
    pub fn said_noise_threshold(&self) -> Option<f64> {
        let of_method = self
            .analysis
            .method
            .map(|method| method.decision().noise_threshold);
        self.noise_threshold.or(of_method)
    }

    /// The settings in force where two builds are measured in turn, which no other system does.
    pub(super) fn decision_in_turn(&self, workspace: &WorkspaceOnly) -> DecisionSettings {
        let workspace = WorkspaceOnly {
            method: None,
            correction: None,
            ..workspace.clone()
        };
        let mut decision = self.decision(&workspace);
        if self.noise_threshold.is_none() {
            decision.noise_threshold = DecisionSettings::PAIRED_NOISE_THRESHOLD;
        }
        decision
    }

    /// The verdicts that make the exit status 1.
    pub(super) fn fail_on(&self, workspace: &WorkspaceOnly) -> Vec<Verdict> {
        let said = self.fail_on.clone().map(|fail_on| fail_on.0);
        said.or_else(|| workspace.fail_on.clone())
            .unwrap_or_else(|| vec![Verdict::Regressed])
    }

    /// Rules that benchmarks must keep: those of the workspace, then those of the command line.
    pub(super) fn limits<'a>(&'a self, tables: &'a Tables) -> impl Iterator<Item = &'a Limit> {
        tables.limits.iter().chain(&self.limits)
    }

    /// Whether something of the published systems was asked for that two builds measured in turn do not have.
    pub(super) fn is_of_other_systems(&self) -> bool {
        let said = self.analysis.said();
        let own = Analysis {
            subject: said.subject,
            correction: said.correction,
            ..Analysis::default()
        };
        said != own
    }

    /// Whether a test decides that knows stored numbers alone.
    pub(super) fn is_judged_elsewhere(&self, workspace: &WorkspaceOnly) -> bool {
        self.is_of_other_systems() || self.decision(workspace).analysis.test != Test::BootstrapT
    }

    /// Whether the verdicts are about the time, as usual.
    pub(super) fn is_about_time(&self) -> bool {
        self.analysis.said().subject == Analysis::default().subject
    }

    /// Refuses choices that contradict each other.
    pub(super) fn check(&self, workspace: &WorkspaceOnly) -> Result<(), AppError> {
        let analysis = self.decision(workspace).analysis;
        let default = Analysis::default();
        let is_ours = !analysis.test.is_of_another_system();
        if is_ours && analysis.observations != default.observations {
            return Err(AppError::Usage(
                "`--observations` is about another test than the tool's own, which has one way\n  help: add `--test welch` or another one; `--help` lists them".to_owned(),
            ));
        }
        if self.analysis.p.is_some() && !matches!(analysis.test, Test::MannWhitney | Test::Kruskal)
        {
            return Err(AppError::Usage(
                "`--rank-p` goes with `--test mann-whitney`, and with `--test kruskal` behind its gate".to_owned(),
            ));
        }
        if !is_ours && analysis.subject != default.subject {
            return Err(AppError::Usage(format!(
                "`--metric {}` has rules of its own, and `--test` is about times\n  help: leave out one of them",
                analysis.subject
            )));
        }
        let of_launches = matches!(
            analysis.center,
            Some(Statistic::Slope | Statistic::Subselection)
        );
        if analysis.observations == Observations::Samples && of_launches {
            return Err(AppError::Usage(format!(
                "`--center {}` is of whole launches\n  help: leave out `--observations samples`",
                analysis.center_in_force()
            )));
        }
        Ok(())
    }

    /// Refuses what two builds measured in turn do not have.
    pub(super) fn check_in_turn(&self) -> Result<(), AppError> {
        if self.is_of_other_systems() {
            return Err(AppError::Usage(
                "statistics of other systems are about stored runs: two builds measured side by side are decided by their pairs\n  help: measure without these flags, then compare the two runs that this stores: cargo perfcheck compare BASE NEW --test ...".to_owned(),
            ));
        }
        if self.analysis.correction.is_some() {
            return Err(AppError::Usage(
                "`--correction` is about stored runs: two builds measured side by side share their level over looks and benchmarks, family-wise\n  help: leave it out, or compare the two runs that this stores: cargo perfcheck compare BASE NEW --correction bh".to_owned(),
            ));
        }
        self.check(&WorkspaceOnly::default())
    }

    /// Whether the user lets this fact differ.
    pub(super) fn allows(&self, fact: Fact) -> bool {
        self.allow_different.contains(&fact)
    }
}

/// How much may be measured where two builds are measured in turn; nothing said: the usual rounds, and no more than half a minute where they
/// are costly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Rounds at most.
    pub rounds: Option<u32>,
    /// Time of all rounds together.
    pub time_budget: Option<Duration>,
    /// Whether executables run as they were built, with no other layout of their code.
    pub as_built: bool,
    /// Of which benchmarks instructions are counted.
    pub instructions: Counting,
}

/// Of which benchmarks instructions are counted, where no verdict and no limit is about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counting {
    /// Of none.
    Never,
    /// Of those whose time has changed, where two builds are measured in turn.
    #[default]
    Changed,
    /// Of all.
    Always,
}

impl Effort {
    /// How long a costly benchmark may take.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// The time after which a benchmark gets no more rounds than it needs at least.
    pub(super) fn patience(&self) -> Option<Duration> {
        (self.rounds.is_none() && self.time_budget.is_none()).then_some(Self::PATIENCE)
    }
}

/// How the commands that measure two builds in turn do so.
#[derive(Debug, Clone)]
pub struct PairedOptions {
    /// How much is measured.
    pub effort: Effort,
    /// The part of every deadline that does not depend on the request.
    pub timeout: Option<Duration>,
    /// How it is decided.
    pub comparison: ComparisonOptions,
}
