//! The library through its public interface: the store, builds of revisions, file formats, and statistics compared with those of other systems.

mod exchange;
mod revisions;
mod store;
mod support;
mod systems;
