//! The store through its public interface, with real files and real processes.

mod baselines;
mod builders;
mod damage;
mod expiry;
mod history;
mod opening;
mod pairs;
mod processes;
mod pruning;
mod recording;
mod steps;
