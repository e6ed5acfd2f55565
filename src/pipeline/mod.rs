//! The way of a run: build -> reference -> pair -> measure -> judge -> record -> publish. A file holds one stage or a part of it; commands call the
//! stages that they need.
//!
//! Must not know which command calls. Invariants: a stage gets all that it needs as values and changes none of them; every measurement is stored
//! before anything is decided about it.

pub(crate) mod build;
pub(crate) mod cache_build;
pub(crate) mod counting;
pub(crate) mod judge;
pub(crate) mod machine_code;
pub(crate) mod next_steps;
pub(crate) mod pair;
pub(crate) mod paired;
pub(crate) mod prepare;
pub(crate) mod publish;
pub(crate) mod record;
pub(crate) mod reference;
pub(crate) mod relinking;
pub(crate) mod request;
pub(crate) mod single;
pub(crate) mod work_tree;

pub use build::Against;
