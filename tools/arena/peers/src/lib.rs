//! Sets the slowdown that an executable was built with, so that two builds differ as two commits of a user do, and says which of the hard
//! workloads one is to measure.

use arena_hard::{KINDS, Workload};

/// `ARENA_PER_MILLE` at build time; 1000 is the base.
pub fn set_cost() {
    let per_mille = option_env!("ARENA_PER_MILLE").unwrap_or("1000");
    arena_subject::slow::set_per_mille(per_mille.parse().expect("ARENA_PER_MILLE is a number"));
}

/// The hard workloads of the kind `ARENA_KIND` at run time, or of all.
pub fn of_the_kind() -> impl Iterator<Item = &'static Workload> {
    let wanted = std::env::var("ARENA_KIND").ok();
    KINDS
        .into_iter()
        .filter(move |(kind, _)| wanted.as_deref().is_none_or(|wanted| wanted == *kind))
        .flat_map(|(_, workloads)| workloads)
}
