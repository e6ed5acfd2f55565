//! x
pub mod app;
pub mod cargo;
pub mod child;
pub mod cli;
pub mod compare;
pub mod exit_code;
pub mod host;
pub mod measure;
pub mod model;
pub mod process;
pub mod report;
pub mod settings;
pub mod stats;
pub mod store;
