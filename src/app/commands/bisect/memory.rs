//! State of a search, kept in a file so that repeating the command continues the search.
//!
//! The file is written to a temporary name and renamed. It belongs to one question; a file of another question, or an unreadable one, counts as
//! absent.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::report::CommitOutcome;
use perfcheck_stats::derived_seed;

#[derive(Debug, Default, Serialize, Deserialize)]
struct SavedState {
    question: String,
    /// Outcomes by commit
    outcomes: BTreeMap<String, CommitOutcome>,
    /// Number of measurements so far
    measured: u32,
}

/// The state of a search and its file.
#[derive(Debug)]
pub(super) struct SearchState {
    path: PathBuf,
    content: SavedState,
}

impl SearchState {
    /// Loads the state for `question` from `directory`. `question` must contain everything that the outcomes depend on.
    pub(super) fn load(directory: &Path, question: &str) -> Self {
        let path = directory.join(format!("{:016x}.json", derived_seed(0, question)));
        let content = fs::read(&path)
            .ok()
            .and_then(|text| serde_json::from_slice::<SavedState>(&text).ok())
            .filter(|content| content.question == question)
            .unwrap_or_else(|| SavedState {
                question: question.to_owned(),
                ..SavedState::default()
            });
        Self { path, content }
    }

    /// Returns all outcomes, by commit.
    pub(super) fn outcomes(&self) -> &BTreeMap<String, CommitOutcome> {
        &self.content.outcomes
    }

    /// Returns the number of measurements so far.
    pub(super) fn measured(&self) -> u32 {
        self.content.measured
    }

    /// Counts a measurement. The count is saved together with the next outcome.
    pub(super) fn count_measurement(&mut self) {
        self.content.measured += 1;
    }

    /// Records an outcome and saves the state.
    pub(super) fn record_outcome(
        &mut self,
        commit: &str,
        outcome: CommitOutcome,
    ) -> io::Result<()> {
        self.content.outcomes.insert(commit.to_owned(), outcome);
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
    pub(super) fn clear(&mut self) -> io::Result<()> {
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
    use crate::report::CommitFinding;
    use perfcheck_analysis::compare::Estimate;
    use perfcheck_analysis::model::{RunId, Verdict};

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
        let mut memory = SearchState::load(&below, "question");
        assert!(memory.outcomes().is_empty());
        memory.count_measurement();
        memory.record_outcome("abc", outcome()).expect("written");
        let mut again = SearchState::load(&below, "question");
        assert_eq!(again.outcomes()["abc"], outcome());
        assert_eq!(again.measured(), 1);
        assert!(SearchState::load(&below, "another").outcomes().is_empty());
        again.clear().expect("removed");
        again.clear().expect("nothing to remove");
        assert!(SearchState::load(&below, "question").outcomes().is_empty());
        assert_eq!(fs::read_dir(&below).expect("there").count(), 0);
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_question_counts_as_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut memory = SearchState::load(directory.path(), "question");
        memory.record_outcome("abc", outcome()).expect("written");
        let text = fs::read_to_string(&memory.path).expect("there");
        fs::write(
            &memory.path,
            text.replace("question\":\"question", "question\":\"other"),
        )
        .expect("written");
        assert!(
            SearchState::load(directory.path(), "question")
                .outcomes()
                .is_empty()
        );
        fs::write(&memory.path, &text[..20]).expect("written");
        assert!(
            SearchState::load(directory.path(), "question")
                .outcomes()
                .is_empty()
        );
    }
}
