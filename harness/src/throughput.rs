//! The amount of work that one iteration processes.

/// The amount of work that one iteration of a benchmark processes: bytes, elements, or both.
///
/// ```
/// use perfcheck::Throughput;
/// let both = Throughput::bytes(8000).and_elements(1000);
/// assert_eq!((both.bytes_per_iteration(), both.elements_per_iteration()), (Some(8000), Some(1000)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Throughput {
    bytes: Option<u64>,
    elements: Option<u64>,
}

impl Throughput {
    /// Declares `count` bytes per iteration.
    pub const fn bytes(count: u64) -> Self {
        Self {
            bytes: Some(count),
            elements: None,
        }
    }

    /// Declares `count` elements per iteration: rows, requests, characters, or any other unit of the benchmark.
    pub const fn elements(count: u64) -> Self {
        Self {
            bytes: None,
            elements: Some(count),
        }
    }

    /// Adds `count` bytes per iteration.
    #[must_use]
    pub const fn and_bytes(self, count: u64) -> Self {
        Self {
            bytes: Some(count),
            elements: self.elements,
        }
    }

    /// Adds `count` elements per iteration.
    #[must_use]
    pub const fn and_elements(self, count: u64) -> Self {
        Self {
            bytes: self.bytes,
            elements: Some(count),
        }
    }

    /// Returns the bytes per iteration, if known.
    pub const fn bytes_per_iteration(self) -> Option<u64> {
        self.bytes
    }

    /// Returns the elements per iteration, if known.
    pub const fn elements_per_iteration(self) -> Option<u64> {
        self.elements
    }
}
