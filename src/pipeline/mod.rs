//! The stages of a run: build -> reference -> pair -> measure -> judge -> record -> publish. Commands call the stages that they need; a stage does
//! not know which command calls it.
//!
//! - build: [`work_tree::WorkTree`], [`build::BuildPair`]; `prepare`, `cache_build`, `relinking` and
//!   `machine_code` help
//! - reference: [`reference::ReferenceBuilds`]
//! - pair: [`pair::PairedSuite`]
//! - measure: [`paired::PairedMeasurement`], [`single::SingleMeasurement`], then `counting`
//! - judge: [`judge::Measured`]
//! - record: [`record::RecordedRun`]
//! - publish: [`publish::Publication`], with the advice of `next_steps`
//!
//! `past` composes them for commits of the past, and `search` looks for the commit with a change.
//!
//! Invariant: the samples of a run are stored before anything is decided about them.

pub(crate) mod build;
pub(crate) mod cache_build;
pub(crate) mod counting;
pub(crate) mod judge;
pub(crate) mod machine_code;
pub(crate) mod next_steps;
pub(crate) mod pair;
pub(crate) mod paired;
pub(crate) mod past;
pub(crate) mod prepare;
pub(crate) mod publish;
pub(crate) mod record;
pub(crate) mod reference;
pub(crate) mod relinking;
pub(crate) mod request;
pub(crate) mod search;
pub(crate) mod single;
pub(crate) mod work_tree;

pub use build::Against;
