//! Another layout of the code for each round of two sides, where executables can be linked anew.

#![expect(
    clippy::disallowed_methods,
    reason = "how long links take, so that they take no longer than what is measured"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::target::Target;
use perfcheck_analysis::model::{Event, Side};

impl Campaign<'_> {
    /// Links the executables of a target for this round, unless those that they have are to serve longer. Where that fails they stay as they
    /// are, for good.
    pub(super) fn lay_out(&mut self, index: usize, round: u32) {
        let target = &mut self.targets[index];
        let Some(layouts) = target.layouts.clone() else {
            return;
        };
        if target.keeps_layout(round) {
            return;
        }
        let began = Instant::now();
        if let Err(error) = layouts.link(round) {
            let bench = &target.executables.candidate;
            let message = format!(
                "{}/{}: its functions stay where they are: {error}",
                bench.package, bench.target
            );
            target.layouts = None;
            self.launcher.observer.observe(&Event::Warning(&message));
            return;
        }
        target.link_time = began.elapsed();
        target.layout = Some(round);
        for side in target.executables.present(Side::BOTH) {
            let place = layouts.executables().of(side).to_path_buf();
            let executable = target.executables.of_mut(side);
            *executable = executable.clone().with_executable(place);
        }
    }
}

impl Target {
    /// Whether its layout has not yet been measured for as long as its link took: links take half of the time at most.
    fn keeps_layout(&self, round: u32) -> bool {
        let Some(since) = self.layout else {
            return false;
        };
        let open = self.subjects.iter().filter(|subject| subject.is_open());
        let of_round: Duration = open.map(|subject| subject.visit).sum();
        of_round * (round - since) < self.link_time
    }
}
