//! The lock that keeps measurements on this machine from overlapping.

use super::cache_build::cache_directory;
use super::request::Request;
use crate::app::context::World;
use crate::app::error::AppError;
use perfcheck_engine::sides::MeasuringLock;

impl Request<'_> {
    /// Waits until no other cargo-perfcheck that uses this cache is measuring, and blocks others while the returned value lives. Commands take the
    /// lock after building and before they begin a run, and release it after measuring.
    pub(in crate::app) fn measuring_lock(
        &self,
        world: &mut World<'_>,
    ) -> Result<Option<MeasuringLock>, AppError> {
        // Without a cache directory, processes have no place for a common lock.
        let Ok(cache) = cache_directory(world) else {
            return Ok(None);
        };
        let interrupt = world.interrupt;
        let mut told = Ok(());
        let lock = MeasuringLock::acquire(&cache, interrupt, &mut |holder| {
            let whose = match holder {
                Some(process) => format!("the run of process {process}"),
                None => "another run".to_owned(),
            };
            let words = format!("for {whose} to end: two measurements at once disturb each other");
            told = self.announce("Waiting", words, world);
        })?;
        told?;
        Ok(Some(lock))
    }
}
