//! The wait for other measurements on this machine.

use super::cache_build::cache_directory;
use super::request::Request;
use crate::app::context::World;
use crate::app::error::AppError;
use perfcheck_engine::sides::MeasuringLock;

impl Request<'_> {
    /// Waits until no other cargo-perfcheck measures with this cache, which none does then while the value lives. A command asks for it once
    /// everything is built and before a run begins, and gives it back when it has measured.
    pub(in crate::app) fn measuring_lock(
        &self,
        world: &mut World<'_>,
    ) -> Result<Option<MeasuringLock>, AppError> {
        // Without a place for caches nobody can know of anybody.
        let Ok(cache) = cache_directory(world) else {
            return Ok(None);
        };
        let interrupt = world.interrupt;
        let mut told = Ok(());
        let lock = MeasuringLock::wait(&cache, interrupt, &mut |holder| {
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
