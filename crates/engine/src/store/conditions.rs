//! The conditions of a measurement, stored once for all runs that share them, and benchmarks by key.

use std::collections::HashMap;
use std::rc::Rc;

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::columns::Json;
use super::error::Attempt;
use super::{StoreError, WorkspaceId};
use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, BenchmarkKey, Metric, SamplingSettings, TargetFacts, Throughput,
};

/// Everything about a benchmark in a run that seldom changes from run to run. The names are those in the JSON text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Conditions {
    pub(super) version: Option<String>,
    pub(super) throughput: Throughput,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) other_throughput: Option<String>,
    pub(super) settings: AuthorSettings,
    pub(super) target: TargetFacts,
    pub(super) sampling: SamplingSettings,
    pub(super) noise_threshold: f64,
    #[serde(default, skip_serializing_if = "Metric::is_time")]
    pub(super) metric: Metric,
}

impl Conditions {
    /// The benchmark of this key under these conditions.
    pub(super) fn benchmark(&self, key: BenchmarkKey) -> Benchmark {
        Benchmark {
            key,
            version: self.version.clone(),
            throughput: self.throughput,
            other_throughput: self.other_throughput.clone(),
            settings: self.settings,
            metric: self.metric.clone(),
        }
    }

    /// The number of these conditions, new where nobody measured under them before.
    pub(super) fn intern(&self, connection: &Connection) -> Attempt<i64> {
        // JSON has no infinities: they would come back as nothing.
        if !self.noise_threshold.is_finite() {
            return Err(StoreError::NotFinite {
                what: "the noise threshold",
            }
            .into());
        }
        intern_json(connection, "conditions", self)
    }
}

/// The row of `table` with these facts, inserted where there is none.
pub(super) fn intern_json<T: Serialize>(
    connection: &Connection,
    table: &str,
    facts: &T,
) -> Attempt<i64> {
    let known = connection
        .prepare_cached(&format!("SELECT id FROM {table} WHERE facts = ?1"))?
        .query_row([Json(facts)], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    Ok(connection.query_row(
        &format!("INSERT INTO {table} (facts) VALUES (?1) RETURNING id"),
        [Json(facts)],
        |row| row.get(0),
    )?)
}

/// The number of a benchmark, if the workspace knows it.
pub(super) fn find_benchmark(
    connection: &Connection,
    workspace: WorkspaceId,
    key: &BenchmarkKey,
) -> Attempt<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT id FROM benchmarks
             WHERE workspace = ?1 AND package = ?2 AND target = ?3 AND name = ?4",
        )?
        .query_row(
            params![workspace.0, key.package, key.target, key.id],
            |row| row.get(0),
        )
        .optional()?)
}

/// The number of a benchmark, new where the workspace does not know it.
pub(super) fn intern_benchmark(
    connection: &Connection,
    workspace: WorkspaceId,
    key: &BenchmarkKey,
) -> Attempt<i64> {
    if let Some(id) = find_benchmark(connection, workspace, key)? {
        return Ok(id);
    }
    Ok(connection.query_row(
        "INSERT INTO benchmarks (workspace, package, target, name) VALUES (?1, ?2, ?3, ?4) RETURNING id",
        params![workspace.0, key.package, key.target, key.id],
        |row| row.get(0),
    )?)
}

/// Conditions by number, each read once.
#[derive(Default)]
pub(super) struct KnownConditions(HashMap<i64, Rc<Conditions>>);

impl KnownConditions {
    /// The conditions of this number.
    pub(super) fn get(&mut self, connection: &Connection, id: i64) -> Attempt<Rc<Conditions>> {
        if let Some(conditions) = self.0.get(&id) {
            return Ok(Rc::clone(conditions));
        }
        let Json(conditions) = connection
            .prepare_cached("SELECT facts FROM conditions WHERE id = ?1")?
            .query_row([id], |row| row.get::<_, Json<Conditions>>(0))?;
        let conditions = Rc::new(conditions);
        self.0.insert(id, Rc::clone(&conditions));
        Ok(conditions)
    }
}
