//! Stores the summary values that replace removed samples, for all benchmarks of a run at once.

use tokio_postgres::types::Type;

use super::session::TeamSession;
use crate::store::error::Attempt;
use perfcheck_analysis::model::{BenchmarkKey, RunId, RunPoint};

impl TeamSession {
    /// Stores the summary values of a run.
    pub(in crate::store) fn insert_points(
        &self,
        run: RunId,
        points: &[(RunPoint, BenchmarkKey)],
    ) -> Attempt<()> {
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let text = |part: fn(&BenchmarkKey) -> &String| -> Vec<String> {
            let parts = points
                .iter()
                .map(|(_, key)| part(key).replace('\0', "\u{fffd}"));
            parts.collect()
        };
        let numbers = |part: &dyn Fn(&RunPoint) -> i64| -> Vec<i64> {
            points.iter().map(|(point, _)| part(point)).collect()
        };
        let measures = |part: &dyn Fn(&RunPoint) -> Option<f64>| -> Vec<Option<f64>> {
            points.iter().map(|(point, _)| part(point)).collect()
        };
        self.change(
            "INSERT INTO points (run_benchmark, launches, samples, from_ramp, low_quantile, median)
             SELECT rb.id, p.launches, p.samples, p.from_ramp, p.low_quantile, p.median
             FROM unnest($2, $3, $4, $5, $6, $7, $8, $9) p(package, target, name, launches, samples, from_ramp, low_quantile, median)
             JOIN runs r ON r.id = $1
             JOIN benchmarks b ON b.workspace = r.workspace AND b.package = p.package COLLATE \"C\"
                 AND b.target = p.target COLLATE \"C\" AND b.name = p.name COLLATE \"C\"
             JOIN run_benchmarks rb ON rb.benchmark = b.id AND rb.run = r.id
             ON CONFLICT DO NOTHING",
            &[
                (&run.0, Type::INT8),
                (&text(|key| &key.package), Type::TEXT_ARRAY),
                (&text(|key| &key.target), Type::TEXT_ARRAY),
                (&text(|key| &key.id), Type::TEXT_ARRAY),
                (&numbers(&|point| count(point.launches)), Type::INT8_ARRAY),
                (&numbers(&|point| count(point.samples)), Type::INT8_ARRAY),
                (&numbers(&|point| i64::from(point.from_ramp)), Type::INT8_ARRAY),
                (&measures(&|point| point.low_quantile), Type::FLOAT8_ARRAY),
                (&measures(&|point| point.median), Type::FLOAT8_ARRAY),
            ],
        )
        .map(drop)
    }
}
