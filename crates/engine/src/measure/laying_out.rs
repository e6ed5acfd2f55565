//! Another layout of the code for each round of two sides, where executables can be linked anew.

#![expect(
    clippy::disallowed_methods,
    reason = "how long links take, so that they take no longer than the rounds"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::target::Target;
use perfcheck_analysis::model::{Event, Side};

/// A link that takes no longer than this is made for every round, however short.
const QUICK_LINK: Duration = Duration::from_millis(300);

impl Campaign<'_> {
    /// Links the executables of a target for this round, unless that takes too long. Where it fails they stay as they are, for good.
    pub(super) fn lay_out(&mut self, index: usize, round: u32) {
        let target = &mut self.targets[index];
        if target.keeps_layout() {
            return;
        }
        let Some(layouts) = target.layouts.take() else {
            return;
        };
        let began = Instant::now();
        if let Err(error) = layouts.link(round) {
            let bench = &target.executables.candidate;
            let message = format!(
                "{}/{}: its functions stay where they are: {error}",
                bench.package, bench.target
            );
            self.launcher.observer.observe(&Event::Warning(&message));
            return;
        }
        let took = began.elapsed();
        target.link_time = Some(target.link_time.map_or(took, |before| before.min(took)));
        target.layout = Some(round);
        for side in target.executables.present(Side::BOTH) {
            let place = layouts.executables().of(side).to_path_buf();
            let executable = target.executables.of_mut(side);
            *executable = executable.clone().with_executable(place);
        }
        target.layouts = Some(layouts);
    }
}

impl Target {
    /// Whether links take too long for this round to have its own layout: then it has that of the round before.
    fn keeps_layout(&self) -> bool {
        let open = self.subjects.iter().filter(|subject| subject.is_open());
        let of_round: Duration = open.map(|subject| subject.visit).sum();
        let most = of_round.max(QUICK_LINK);
        self.link_time.is_some_and(|shortest| shortest > most)
    }
}
