//! Another layout of the code for each round of two sides, where executables can be linked anew.

#![expect(
    clippy::disallowed_methods,
    reason = "how long links take, for the time left"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use crate::link::LinkError;
use perfcheck_analysis::model::{Event, Side};

impl Campaign<'_> {
    /// Links the executables of a target for this round. Where that fails they run as they were built, for good.
    pub(super) fn lay_out(&mut self, index: usize, round: u32) {
        let target = &mut self.targets[index];
        let Some(layouts) = target.layouts.take() else {
            return;
        };
        let began = Instant::now();
        if let Err(error) = layouts.link(round) {
            let bench = &target.executables.candidate;
            let message = format!(
                "{}/{}: from this round on it runs as it was built: {error}",
                bench.package, bench.target
            );
            // One of them may be linked by the new map already.
            target.executables = target.built.clone();
            target.layout = None;
            target.link_time = Duration::ZERO;
            if !matches!(error, LinkError::Interrupted) {
                self.launcher.observer.observe(&Event::Warning(&message));
            }
            return;
        }
        target.link_time = began.elapsed();
        target.layout = Some(round);
        for side in target.executables.present(Side::BOTH) {
            let place = layouts.executables().of(side).to_path_buf();
            let executable = target.executables.of_mut(side);
            *executable = executable.clone().with_executable(place);
        }
        target.layouts = Some(layouts);
    }
}
