//! The tests of one question, before the decision about the whole family.

use super::comparison::Extent;
use super::description::ChangeDescription;
use super::floor_gap::note_lone_floor;
use super::launch_values::{
    Location, MIN_SAMPLES_FOR_LOW_QUANTILE, ProcessTimes, RunTimes, first_samples, has_samples,
    shortest_usable_sample_ns,
};
use super::note::Note;
use super::question::{Question, TestPolicy};
use super::run_level::{RunLevel, RunValue, RunValues};
use crate::model::{MIN_LAUNCHES, Measurement, Side, Verdict};
use perfcheck_stats::{Resampling, Stream, TScore, derived_seed, mean, median};

/// The tests of one question.
pub(super) struct QuestionTests {
    pub location: Location,
    pub run_level: RunLevel,
    pub t_score: Option<TScore>,
    /// The mean of the reference values that the t-score compares, a logarithm.
    pub t_score_base: f64,
    pub description: ChangeDescription,
    /// Whether all process values of both sides are equal.
    pub identical: bool,
    /// Whether each side has one process, timed by a clock, and no other run shows how much processes differ.
    pub is_of_lone_launches: bool,
    /// Whether the fastest processes of a side disagree, so that no change is called.
    pub is_disturbed: bool,
}

/// One question with the tests of its samples.
pub(super) struct QuestionEvidence {
    /// ln(1 + noise threshold).
    pub threshold: f64,
    /// The tests, or the verdict of a question that cannot be tested.
    pub tests: Result<QuestionTests, Verdict>,
    pub extent: Extent,
    pub notes: Vec<Note>,
}

/// The samples of both sides.
struct Sides {
    candidate: RunTimes,
    averaged: Vec<RunTimes>,
    spread: Vec<SpreadRun>,
    /// Runs of earlier levels, grouped by level.
    earlier: Vec<Vec<RunTimes>>,
}

/// A run from which the drift between runs is estimated.
enum SpreadRun {
    /// One of the averaged runs, as an index into them.
    Averaged(usize),
    /// A run that is not averaged.
    Other(RunTimes),
}

impl QuestionEvidence {
    /// Computes the tests of `question`.
    pub(super) fn from_question(question: &Question<'_>, rules: &TestPolicy) -> Self {
        let sides = Sides::from_question(question);
        let mut notes = Vec::new();
        let tests = match find_refusal(question, &sides, &mut notes) {
            Some(verdict) => Err(verdict),
            None => sides
                .run_tests(question, rules, &mut notes)
                .ok_or(Verdict::Inconclusive),
        };
        Self {
            threshold: question.noise_threshold.ln_1p(),
            tests,
            extent: Extent::Runs {
                launches_candidate: sides.candidate.launches.len(),
                launches_base: sides.averaged.iter().map(|run| run.launches.len()).sum(),
                averaged: sides.averaged.len(),
                spread: sides.spread.len() + sides.earlier.iter().map(Vec::len).sum::<usize>(),
            },
            notes,
        }
    }
}

/// Returns the verdict of a question that cannot be tested, and adds notes about what is missing; `None` if it can be tested.
fn find_refusal(question: &Question<'_>, sides: &Sides, notes: &mut Vec<Note>) -> Option<Verdict> {
    let good = question
        .candidate
        .launches
        .iter()
        .filter(|launch| has_samples(launch))
        .count();
    if let Some(verdict) = question.failure_verdict(good, notes) {
        return Some(verdict);
    }
    let candidate_is_short = sides.candidate.launches.is_empty();
    if candidate_is_short {
        notes.push(Note::SamplesTooShort {
            side: Side::Candidate,
            needed_ns: shortest_usable_sample_ns(question.candidate),
        });
    }
    if sides.averaged.is_empty() {
        notes.push(note_missing_base(&question.reference.averaged));
    }
    (candidate_is_short || sides.averaged.is_empty()).then_some(Verdict::Inconclusive)
}

fn note_missing_base(runs: &[&Measurement]) -> Note {
    let has_any = runs.iter().any(|run| run.launches.iter().any(has_samples));
    if has_any {
        let needed_ns = runs
            .iter()
            .map(|run| shortest_usable_sample_ns(run))
            .fold(0.0, f64::max);
        Note::SamplesTooShort {
            side: Side::Base,
            needed_ns,
        }
    } else {
        Note::NoSamples { side: Side::Base }
    }
}

impl Sides {
    fn from_question(question: &Question<'_>) -> Self {
        let usable =
            |run: &Measurement| Some(RunTimes::from_measurement(run)).filter(RunTimes::takes_time);
        let reference = question.reference;
        let (runs, averaged): (Vec<&Measurement>, Vec<RunTimes>) = reference
            .averaged
            .iter()
            .filter_map(|run| Some((*run, usable(run)?)))
            .unzip();
        let spread = reference.spread.iter().filter_map(|run| {
            let place = runs.iter().position(|known| std::ptr::eq(*known, *run));
            place
                .map(SpreadRun::Averaged)
                .or_else(|| usable(run).map(SpreadRun::Other))
        });
        Self {
            candidate: RunTimes::from_measurement(question.candidate),
            spread: spread.collect(),
            earlier: (reference.earlier.iter())
                .map(|level| level.iter().filter_map(|run| usable(run)).collect())
                .collect(),
            averaged,
        }
    }

    fn run_tests(
        &self,
        question: &Question<'_>,
        rules: &TestPolicy,
        notes: &mut Vec<Note>,
    ) -> Option<QuestionTests> {
        let count = self
            .compared_runs()
            .filter_map(RunTimes::fewest_samples)
            .min()?;
        let location = self.choose_location(count, notes);
        self.note_launches(notes);
        self.note_left_out(notes);
        self.note_lengths(notes);
        let values = |run: &RunTimes| RunValues {
            launches: run.values(location, count),
        };
        let candidate = values(&self.candidate);
        let averaged: Vec<RunValues> = self.averaged.iter().map(values).collect();
        let spread: Vec<RunValues> = self
            .spread
            .iter()
            .map(|run| match run {
                SpreadRun::Averaged(place) => averaged[*place].clone(),
                SpreadRun::Other(run) => values(run),
            })
            .collect();
        let earlier: Vec<Vec<RunValues>> = (self.earlier.iter())
            .map(|level| level.iter().map(values).collect())
            .collect();
        let kind = location.run_value();
        let run_level =
            RunLevel::estimate(&candidate, &averaged, &spread, &earlier, kind, rules.host)?;
        let base: Vec<f64> = averaged.into_iter().flat_map(|run| run.launches).collect();
        let sides = [(Side::Candidate, &candidate.launches), (Side::Base, &base)];
        let withholding = sides
            .iter()
            .filter(|_| kind == RunValue::Floor)
            .find_map(|(side, launches)| note_lone_floor(*side, launches));
        let lone_floor = withholding.or(run_level.lone_floor.map(|floor| Note::LoneFloor {
            side: floor.side,
            gap: floor.gap.exp_m1(),
        }));
        let is_disturbed = lone_floor.as_ref().is_some_and(Note::withholds_changes);
        notes.extend(lone_floor);
        let identical = base
            .iter()
            .chain(&candidate.launches)
            .all(|value| *value == base[0]);
        let is_of_lone_launches = self.has_lone_launches();
        if is_of_lone_launches {
            notes.push(Note::LoneLaunches);
        }
        let random = Random::for_question(question, rules);
        let units = if candidate.launches.len() < 2 || base.len() < 2 {
            notes.push(Note::SamplesAsUnits);
            (self.candidate_samples(count), self.base_samples(count))
        } else {
            (candidate.launches, base)
        };
        let t_score = TScore::test(
            &units.0,
            &units.1,
            question.noise_threshold.ln_1p(),
            self.resolution(),
            rules.decision.significance_level,
            random.resampling("t-score"),
        );
        match &t_score {
            None => notes.push(Note::NoTScore),
            Some(score) if score.is_constant() => notes.push(Note::NoVariance),
            Some(_) => {}
        }
        Some(QuestionTests {
            location,
            run_level,
            t_score,
            t_score_base: mean(&units.1).unwrap_or(f64::NAN),
            description: ChangeDescription::from_stored_runs(question, rules),
            identical,
            is_of_lone_launches,
            is_disturbed,
        })
    }

    /// Reports whether each side has one process, timed by a clock, and no other run shows how much processes differ.
    fn has_lone_launches(&self) -> bool {
        let others = self.spread.iter().filter_map(|run| match run {
            SpreadRun::Averaged(_) => None,
            SpreadRun::Other(run) => Some(run),
        });
        let runs = self
            .compared_runs()
            .chain(others)
            .chain(self.earlier.iter().flatten());
        let launches: Vec<&ProcessTimes> = runs.flat_map(|run| &run.launches).collect();
        launches.len() == 2 && launches.iter().all(|launch| launch.quantum_ns > 0.0)
    }

    /// Yields the runs whose values are compared.
    fn compared_runs(&self) -> impl Iterator<Item = &RunTimes> {
        self.averaged.iter().chain([&self.candidate])
    }

    /// Chooses the statistic that can be compared with `count` samples per process.
    fn choose_location(&self, count: usize, notes: &mut Vec<Note>) -> Location {
        let base: usize = self.averaged.iter().map(|run| run.launches.len()).sum();
        let samples = count * base.min(self.candidate.launches.len());
        let mut launches = self.compared_runs().flat_map(|run| &run.launches);
        if launches.any(|launch| launch.from_ramp) {
            notes.push(Note::MedianOfRamp);
            Location::Median
        } else if samples < MIN_SAMPLES_FOR_LOW_QUANTILE {
            notes.push(Note::MedianOfFewSamples { samples });
            Location::Median
        } else {
            Location::LowQuantile
        }
    }

    fn note_launches(&self, notes: &mut Vec<Note>) {
        let base = self.averaged.iter().map(|run| run.launches.len()).sum();
        for (side, launches) in [
            (Side::Candidate, self.candidate.launches.len()),
            (Side::Base, base),
        ] {
            if launches < MIN_LAUNCHES {
                notes.push(Note::FewLaunches { side, launches });
            }
        }
    }

    fn note_left_out(&self, notes: &mut Vec<Note>) {
        let sides = [
            (Side::Candidate, std::slice::from_ref(&self.candidate)),
            (Side::Base, &self.averaged[..]),
        ];
        for (side, runs) in sides {
            let left_out = runs.iter().map(|run| run.left_out).sum();
            if left_out > 0 {
                notes.push(Note::ProcessesLeftOut {
                    side,
                    left_out,
                    used: launches(runs).count(),
                });
            }
        }
    }

    fn note_lengths(&self, notes: &mut Vec<Note>) {
        // Without a clock, the length of a sample is only the numerator of its fraction, so lengths cannot be compared.
        if self
            .compared_runs()
            .flat_map(|run| &run.launches)
            .any(|launch| launch.quantum_ns == 0.0)
        {
            return;
        }
        let typical = |runs: &[RunTimes]| {
            let lengths: Vec<f64> = launches(runs).map(|launch| launch.sample_ns).collect();
            median(&lengths)
        };
        let candidate = typical(std::slice::from_ref(&self.candidate));
        if let (Some(candidate), Some(base)) = (candidate, typical(&self.averaged)) {
            let ratio = (candidate / base).max(base / candidate);
            if ratio > MAX_LENGTH_RATIO {
                notes.push(Note::SampleLengthsDiffer { ratio });
            }
        }
    }

    /// Returns the smallest relative difference that the clocks can show in a typical sample.
    fn resolution(&self) -> f64 {
        self.compared_runs()
            .flat_map(|run| &run.launches)
            .map(|launch| launch.quantum_ns / launch.sample_ns)
            .fold(0.0, f64::max)
    }

    fn candidate_samples(&self, count: usize) -> Vec<f64> {
        sample_logarithms(std::slice::from_ref(&self.candidate), count)
    }

    fn base_samples(&self, count: usize) -> Vec<f64> {
        sample_logarithms(&self.averaged, count)
    }
}

/// Beyond this ratio of sample lengths the reader gets a note.
const MAX_LENGTH_RATIO: f64 = 4.0;

fn launches(runs: &[RunTimes]) -> impl Iterator<Item = &ProcessTimes> {
    runs.iter().flat_map(|run| &run.launches)
}

fn sample_logarithms(runs: &[RunTimes], count: usize) -> Vec<f64> {
    launches(runs)
        .flat_map(|launch| first_samples(&launch.times, count))
        .map(|time| time.ln())
        .collect()
}

/// The random streams of one benchmark.
struct Random {
    seed: u64,
    resamples: usize,
}

impl Random {
    fn for_question(question: &Question<'_>, rules: &TestPolicy) -> Self {
        let name = question.candidate.benchmark.key.to_string();
        Self {
            seed: derived_seed(rules.seed, &name),
            resamples: rules.decision.resamples as usize,
        }
    }

    fn resampling<'a>(&self, name: &'a str) -> Resampling<'a> {
        Resampling {
            resamples: self.resamples,
            stream: Stream {
                seed: self.seed,
                name,
            },
        }
    }
}
