//! Links the executables with another code layout for each round of two sides, if they can be linked again.

#![expect(
    clippy::disallowed_methods,
    reason = "how long links take, for the time left"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use crate::link::LinkError;
use perfcheck_analysis::model::{Event, Side};

impl Campaign<'_> {
    /// Links the executables of a target for this round. If that fails, they run as built from now on.
    pub(super) fn link_layout(&mut self, index: usize, round: u32) {
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
            // One of the two may already have the new layout.
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
        for side in target.executables.sides_in(Side::BOTH) {
            let place = layouts.executables().get(side).to_path_buf();
            let executable = target.executables.get_mut(side);
            *executable = executable.clone().with_executable(place);
        }
        target.layouts = Some(layouts);
    }
}
