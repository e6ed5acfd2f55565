//! How a bench executable is driven: by our protocol, as a Criterion bench, or by what it prints.

use std::mem::discriminant;
use std::sync::Arc;

use crate::child::{CriterionVersion, PrintedHarness};

/// How a bench executable is driven, which what it is written against decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Driver {
    /// Our protocol: it does what it is asked.
    #[default]
    Own,
    /// Criterion: it goes from benchmark to benchmark at our leave.
    Criterion(CriterionVersion),
    /// It prints its results, or writes them to files: one process for each benchmark.
    Printed(Arc<PrintedHarness>),
}

impl Driver {
    /// Whether two executables are driven in the same way.
    pub fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Printed(one), Self::Printed(two)) => one.printer() == two.printer(),
            _ => discriminant(self) == discriminant(other),
        }
    }
}
