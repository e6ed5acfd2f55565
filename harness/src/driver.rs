//! Both sides of a measurement: the driver asks for samples until it has enough, the bencher hands it the sampler that takes them.

use std::cell::RefCell;

use crate::latencies::LatencyNotes;
use crate::sampler::Sampler;
use crate::throughput::Throughput;

/// Who asks for samples: `cargo perfcheck` through the protocol, the plain table, or a test that runs the body once.
pub(crate) trait SampleDriver {
    /// Called once set-up is done. Takes as many samples as it wants; of a latency benchmark through [`latencies::sample`](crate::latencies::sample).
    fn drive(
        &mut self,
        throughput: Throughput,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyNotes>>,
    );
}

/// Something that can be measured with a sampler.
pub(crate) trait Measure {
    /// Hands `sampler` to the driver, with what it notes of single operations.
    #[track_caller]
    fn measure_noting(
        &mut self,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyNotes>>,
    );

    /// Hands `sampler` to the driver.
    #[track_caller]
    fn measure(&mut self, sampler: &mut Sampler<'_>) {
        self.measure_noting(sampler, None);
    }
}
