//! The library from outside: its store, its builds of revisions, the formats that it reads, and its statistics beside those of others.

mod exchange;
mod revisions;
mod store;
mod support;
mod systems;
