//! Sets the slowdown that an executable was built with, so that two builds differ as two commits of a user do.

/// `ARENA_PER_MILLE` at build time; 1000 is the base.
pub fn set_cost() {
    let per_mille = option_env!("ARENA_PER_MILLE").unwrap_or("1000");
    arena_subject::slow::set_per_mille(per_mille.parse().expect("ARENA_PER_MILLE is a number"));
}
