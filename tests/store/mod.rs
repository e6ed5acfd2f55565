//! The store through its public interface, with real files and real processes.

mod baselines;
mod builders;
mod damage;
mod history;
#[cfg(unix)]
mod kept;
#[cfg(unix)]
mod kept_refused;
#[cfg(unix)]
mod kept_removal;
mod opening;
mod pairs;
mod processes;
mod pruning;
mod recording;
mod steps;
