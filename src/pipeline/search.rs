//! The search for the commit at which a benchmark changed: the choice of the next commit to examine (pure), and the state of a search.
//!
//! The state is kept in a file, so that repeating the command continues the search. The file is written under a temporary name and then renamed.
//! Besides the outcomes, it contains the "question": a text with everything that the outcomes depend on. If the file cannot be read, or if it answers
//! another question, the search begins anew.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The position of a commit relative to the change that is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepFinding {
    /// The benchmark has not changed yet.
    Before,
    /// The benchmark has changed.
    After,
    /// The commit could not be judged.
    Unknown,
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchStep {
    /// Examine the commit at this index.
    Try(usize),
    /// Stop: the commit that made the change is at one of these indices.
    Among {
        /// The first of these indices.
        first: usize,
        /// The last of these indices. The commit at this index is known to have the change.
        last: usize,
    },
}

/// Returns the next step, given the `known` findings of the commits after one without the change, oldest first. The last commit has the change.
pub(crate) fn next(known: &[Option<StepFinding>]) -> SearchStep {
    let (first, last) = bounds(known);
    // Half of the possible answers are at or before this index.
    let middle = (first + last - usize::from(last > first)) / 2;
    (first..last)
        .filter(|place| known[*place].is_none())
        .min_by_key(|place| place.abs_diff(middle))
        .map_or(SearchStep::Among { first, last }, SearchStep::Try)
}

/// Returns the first and the last index at which the change may be. The last index is that of the first commit known to have the change. The first
/// index comes right after the newest commit that is older than this one and known not to have it.
pub(crate) fn bounds(known: &[Option<StepFinding>]) -> (usize, usize) {
    let is = |wanted| move |finding: &Option<StepFinding>| *finding == Some(wanted);
    let after = known.iter().position(is(StepFinding::After));
    let last = after.unwrap_or(known.len().saturating_sub(1));
    let before = known[..last].iter().rposition(is(StepFinding::Before));
    (before.map_or(0, |place| place + 1), last)
}

/// Returns the maximum number of steps of a search through `commits` if none is skipped, including the step for the last commit.
pub(crate) fn most_steps(commits: usize) -> u32 {
    1 + commits.max(1).next_power_of_two().ilog2()
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedState<T> {
    question: String,
    /// The outcomes. The key is the hash of the examined commit, or another text that identifies what was examined.
    outcomes: BTreeMap<String, T>,
    /// The number of measurements so far.
    measured: u32,
}

/// The state of a search, and the path of the file that keeps it.
#[derive(Debug)]
pub(crate) struct SearchState<T> {
    path: PathBuf,
    content: SavedState<T>,
}

impl<T: Serialize + DeserializeOwned> SearchState<T> {
    /// Loads the state for `question` from `directory`. `question` must contain everything that the outcomes depend on.
    pub(crate) fn load(directory: &Path, question: &str) -> Self {
        let digest = blake3::hash(question.as_bytes()).to_hex();
        let path = directory.join(format!("{}.json", &digest[..16]));
        let content = fs::read(&path)
            .ok()
            .and_then(|text| serde_json::from_slice::<SavedState<T>>(&text).ok())
            .filter(|content| content.question == question)
            .unwrap_or_else(|| SavedState {
                question: question.to_owned(),
                outcomes: BTreeMap::new(),
                measured: 0,
            });
        Self { path, content }
    }

    /// Returns all outcomes by what was examined.
    pub(crate) fn outcomes(&self) -> &BTreeMap<String, T> {
        &self.content.outcomes
    }

    /// Returns the number of measurements so far.
    pub(crate) fn measured(&self) -> u32 {
        self.content.measured
    }

    /// Counts a measurement. The count is saved together with the next outcome.
    pub(crate) fn count_measurement(&mut self) {
        self.content.measured += 1;
    }

    /// Records an outcome and saves the state.
    pub(crate) fn record_outcome(&mut self, examined: &str, outcome: T) -> io::Result<()> {
        self.content.outcomes.insert(examined.to_owned(), outcome);
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        let text = serde_json::to_vec(&self.content)?;
        let beside = self
            .path
            .with_extension(format!("{}.new", std::process::id()));
        fs::write(&beside, text)?;
        fs::rename(&beside, &self.path)
    }

    /// Deletes all outcomes and the file.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.content.outcomes.clear();
        self.content.measured = 0;
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{CommitFinding, CommitOutcome};
    use perfcheck_analysis::compare::Estimate;
    use perfcheck_analysis::model::{RunId, Verdict};

    /// Searches `commits` commits, which are slow from the index `planted` on. The commits at the indices in `broken` cannot be built. Returns the
    /// answer and the number of steps.
    fn search(commits: usize, planted: usize, broken: &[usize]) -> (SearchStep, u32) {
        let mut known = vec![None; commits];
        known[commits - 1] = Some(StepFinding::After);
        let mut steps = 1;
        loop {
            match next(&known) {
                SearchStep::Try(place) => {
                    assert_eq!(known[place], None);
                    known[place] = Some(if broken.contains(&place) {
                        StepFinding::Unknown
                    } else if place >= planted {
                        StepFinding::After
                    } else {
                        StepFinding::Before
                    });
                    steps += 1;
                }
                answer @ SearchStep::Among { .. } => return (answer, steps),
            }
        }
    }

    #[test]
    fn every_planted_commit_is_found_in_as_many_steps_as_promised() {
        for commits in 1..40 {
            for planted in 0..commits {
                let (answer, steps) = search(commits, planted, &[]);
                let exactly = SearchStep::Among {
                    first: planted,
                    last: planted,
                };
                assert_eq!(answer, exactly, "{planted} of {commits}");
                assert!(steps <= most_steps(commits), "{steps} for {commits}");
            }
        }
        assert_eq!([1, 2, 16, 17].map(most_steps), [1, 2, 5, 6]);
    }

    #[test]
    fn commits_that_cannot_be_told_are_walked_around_and_named_where_they_matter() {
        for planted in 0..16 {
            for broken in 0..15 {
                let (answer, _) = search(16, planted, &[broken]);
                let SearchStep::Among { first, last } = answer else {
                    panic!("an answer");
                };
                assert!((first..=last).contains(&planted));
                // Only a broken commit at the boundary or right before it leaves a doubt.
                let doubtful = broken == planted || broken + 1 == planted;
                assert_eq!(last - first, usize::from(doubtful), "{planted} {broken}");
            }
        }
        let (answer, _) = search(5, 4, &[0, 1, 2, 3]);
        assert_eq!(answer, SearchStep::Among { first: 0, last: 4 });
    }

    fn outcome() -> CommitOutcome {
        CommitOutcome {
            finding: CommitFinding::Slow,
            verdict: Some(Verdict::Regressed),
            change: Some(Estimate {
                estimate: 1.0,
                lower: 0.9,
                upper: f64::INFINITY,
            }),
            threshold: Some(0.01),
            why: None,
            run: Some(RunId(7)),
            seconds: Some(1.5),
        }
    }

    #[test]
    fn what_was_learnt_is_there_the_next_time_for_the_same_question_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let below = directory.path().join("new");
        let mut memory = SearchState::<CommitOutcome>::load(&below, "question");
        assert!(memory.outcomes().is_empty());
        memory.count_measurement();
        memory.record_outcome("abc", outcome()).expect("written");
        let mut again = SearchState::<CommitOutcome>::load(&below, "question");
        assert_eq!(again.outcomes()["abc"], outcome());
        assert_eq!(again.measured(), 1);
        let load = |question| SearchState::<CommitOutcome>::load(&below, question);
        assert!(load("another").outcomes().is_empty());
        again.clear().expect("removed");
        again.clear().expect("nothing to remove");
        assert!(load("question").outcomes().is_empty());
        assert_eq!(fs::read_dir(&below).expect("there").count(), 0);
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_question_counts_as_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let load = || SearchState::<CommitOutcome>::load(directory.path(), "question");
        let mut memory = load();
        memory.record_outcome("abc", outcome()).expect("written");
        let text = fs::read_to_string(&memory.path).expect("there");
        fs::write(
            &memory.path,
            text.replace("question\":\"question", "question\":\"other"),
        )
        .expect("written");
        assert!(load().outcomes().is_empty());
        fs::write(&memory.path, &text[..20]).expect("written");
        assert!(load().outcomes().is_empty());
    }
}
