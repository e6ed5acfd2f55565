//! What a run says of the next one: the command line that measures again, and what that will be compared with.

use super::options::RunOptions;
use crate::app::deliver::next_steps::{NextReference, flags};
use crate::app::measuring::builds::Against;
use perfcheck_analysis::model::RunId;
use perfcheck_engine::cargo::CargoOptions;
use perfcheck_engine::sides::BenchesFrom;
use perfcheck_engine::store::check_baseline_name;

impl RunOptions {
    /// What this command line will be compared with the next time.
    pub(super) fn next_reference<'b>(
        &self,
        baseline: Option<&'b (RunId, String)>,
    ) -> NextReference<'b> {
        match baseline {
            _ if self.against.is_some() => NextReference::Fixed,
            None => NextReference::Accepted,
            // A number or `latest` is no name that could move; how one that was to be saved anew moves is said already.
            Some((_, name))
                if check_baseline_name(name).is_err()
                    || self.save_baseline.as_ref() == Some(name) =>
            {
                NextReference::Fixed
            }
            Some((_, name)) => NextReference::Named(name),
        }
    }

    /// This command line without what selects benchmarks. `place` leads it to the workspace.
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
        let selected = flags([
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
