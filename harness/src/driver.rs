//! The interface between a bencher and its driver: the bencher hands over a sampler, and the driver takes samples until it has enough.

use std::cell::RefCell;

use crate::latencies::LatencyRecorder;
use crate::sampler::Sampler;
use crate::throughput::Throughput;

/// Takes the samples of a benchmark: `cargo perfcheck` through the protocol, the table of `cargo bench`, or a test that runs the body once.
pub(crate) trait SampleDriver {
    /// Called when set-up is done. Takes as many samples as it wants; for a latency benchmark through
    /// [`latencies::sample_operations`](crate::latencies::sample_operations).
    fn drive(
        &mut self,
        throughput: Throughput,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    );
}

/// A bencher, reduced to the hand-over of a sampler. Tests replace it.
pub(crate) trait Measure {
    /// Hands `sampler` to the driver, with the record of the single operations that the sampler runs.
    #[track_caller]
    fn measure_noting(
        &mut self,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    );

    /// Hands `sampler` to the driver.
    #[track_caller]
    fn measure(&mut self, sampler: &mut Sampler<'_>) {
        self.measure_noting(sampler, None);
    }
}
