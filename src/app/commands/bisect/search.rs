//! Choice of the next commit to examine (pure).

use crate::report::CommitFinding;

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// Examine the commit at this place
    Try(usize),
    /// Stop: the first slow commit is at one of these places
    Among {
        /// The first of these places
        first: usize,
        /// The last of these places, known to be slow
        last: usize,
    },
}

/// Returns the next step, given the `known` findings of the commits after the good one, oldest first. The last commit is slow.
pub(super) fn next(known: &[Option<CommitFinding>]) -> SearchStep {
    let (first, last) = bounds(known);
    // Half of the possible answers are at or before this place.
    let middle = (first + last - usize::from(last > first)) / 2;
    (first..last)
        .filter(|place| known[*place].is_none())
        .min_by_key(|place| place.abs_diff(middle))
        .map_or(SearchStep::Among { first, last }, SearchStep::Try)
}

/// Returns the range of places of the first slow commit: after the last fast commit before it, up to the first commit known to be slow.
pub(super) fn bounds(known: &[Option<CommitFinding>]) -> (usize, usize) {
    let is = |wanted| move |finding: &Option<CommitFinding>| *finding == Some(wanted);
    let slow = known.iter().position(is(CommitFinding::Slow));
    let last = slow.unwrap_or(known.len().saturating_sub(1));
    let fast = known[..last].iter().rposition(is(CommitFinding::Fast));
    (fast.map_or(0, |place| place + 1), last)
}

/// Returns the maximum number of steps of a search through `commits` if none is skipped, including the step for the last commit.
pub(super) fn most_steps(commits: usize) -> u32 {
    1 + commits.max(1).next_power_of_two().ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches `commits` commits that are slow from `planted` on, of which those in `broken` cannot be built. Returns the answer and the number of
    /// steps.
    fn search(commits: usize, planted: usize, broken: &[usize]) -> (SearchStep, u32) {
        let mut known = vec![None; commits];
        known[commits - 1] = Some(CommitFinding::Slow);
        let mut steps = 1;
        loop {
            match next(&known) {
                SearchStep::Try(place) => {
                    assert_eq!(known[place], None);
                    known[place] = Some(if broken.contains(&place) {
                        CommitFinding::Skipped
                    } else if place >= planted {
                        CommitFinding::Slow
                    } else {
                        CommitFinding::Fast
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
}
