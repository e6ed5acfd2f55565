//! Information on the next run: the command line that measures again, and its reference.

use super::options::RunOptions;
use crate::app::deliver::next_steps::{NextReference, format_flags};
use crate::app::measuring::builds::Against;
use perfcheck_analysis::model::RunId;
use perfcheck_engine::cargo::CargoOptions;
use perfcheck_engine::sides::BenchesFrom;
use perfcheck_engine::store::check_baseline_name;

impl RunOptions {
    /// Returns the reference of the next run with this command line.
    pub(super) fn next_reference<'b>(
        &self,
        baseline: Option<&'b (RunId, String)>,
    ) -> NextReference<'b> {
        match baseline {
            _ if self.against.is_some() => NextReference::Fixed,
            None => NextReference::Accepted,
            // A number or `latest` is fixed. For a name being saved by this run, the output has already explained the move.
            Some((_, name))
                if check_baseline_name(name).is_err()
                    || self.save_baseline.as_ref() == Some(name) =>
            {
                NextReference::Fixed
            }
            Some((_, name)) => NextReference::Named(name),
        }
    }

    /// Returns this command line without the selection of benchmarks. `place` has the flags for the workspace.
    pub(super) fn again(&self, place: &str, cargo: &CargoOptions) -> String {
        let features = Some(cargo.features.join(",")).filter(|features| !features.is_empty());
        let profile = cargo.profile.clone().filter(|profile| profile != "bench");
        let (mut revision, mut branch, mut executable) = (None, None, None);
        let mut benches_from = None;
        if let Some(against) = &self.against {
            match &against.reference {
                Against::Revision(named) => revision = Some(named.clone()),
                Against::MergeBase(named) => branch = Some(named.clone()),
                Against::Executable(path) => executable = Some(path.display().to_string()),
            }
            let is_of_work_tree = against.benches_from == BenchesFrom::WorkTree;
            benches_from = is_of_work_tree.then(|| against.benches_from.to_string());
        }
        let selected = format_flags([
            ("--baseline", self.baseline.clone()),
            ("--against", revision),
            ("--against-merge-base", branch),
            ("--against-executable", executable),
            ("--benches-from", benches_from),
            ("--features", features),
            ("--profile", profile),
            ("--target", cargo.target.clone()),
        ]);
        format!("cargo perfcheck{place}{selected}")
    }
}
