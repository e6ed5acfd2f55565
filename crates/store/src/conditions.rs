//! Stores the conditions under which benchmarks were measured. Equal conditions are stored only once, for all runs that share them. This module also
//! looks up and inserts benchmarks by their keys.

#[cfg(feature = "postgres")]
use super::error::Fault;
use rusqlite::{ToSql, params};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

use super::encoding::Json;
use super::error::Attempt;
use super::sql::Sql;
use super::{StoreError, WorkspaceId};
use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, BenchmarkInProcess, BenchmarkKey, Metric, SamplingSettings,
    TargetFacts, Throughput,
};

/// The facts about a benchmark in a run that seldom change between runs. The field names are those of the JSON text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Version string that the author set. `None` if the author set none.
    pub version: Option<String>,
    pub(super) throughput: Throughput,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) other_throughput: Option<String>,
    pub(super) settings: AuthorSettings,
    /// Facts about the benchmark's target.
    pub target: TargetFacts,
    /// Settings with which the benchmark was sampled.
    pub sampling: SamplingSettings,
    pub(super) noise_threshold: f64,
    #[serde(default, skip_serializing_if = "Metric::is_time")]
    /// Metric of the benchmark's samples.
    pub metric: Metric,
}

impl Conditions {
    /// Creates a benchmark from its key and from the facts about it in these conditions.
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

    /// Returns the conditions under which a process measured a benchmark.
    pub(super) fn from_launched(
        target_facts: &TargetFacts,
        in_process: &BenchmarkInProcess,
    ) -> Self {
        let announced = &in_process.benchmark;
        Self {
            version: announced.version.clone(),
            throughput: announced.throughput,
            other_throughput: announced.other_throughput.clone(),
            settings: announced.settings,
            target: target_facts.clone(),
            sampling: in_process.sampling,
            noise_threshold: in_process.noise_threshold,
            metric: announced.metric.clone(),
        }
    }

    /// Returns the row id of these conditions, and inserts the row if the table does not have it yet.
    pub(super) fn intern(&self, sql: Sql<'_>) -> Attempt<i64> {
        self.check()?;
        intern_json(sql, "conditions", self)
    }

    /// Returns the JSON text in which the conditions are stored.
    #[cfg(feature = "postgres")]
    pub(super) fn facts(&self) -> Attempt<String> {
        self.check()?;
        serde_json::to_string(self).map_err(|error| Fault::Content(error.to_string()))
    }

    /// Rejects an infinite or NaN noise threshold, which JSON would store as null.
    fn check(&self) -> Attempt<()> {
        if self.noise_threshold.is_finite() {
            return Ok(());
        }
        Err(StoreError::NotFinite("the noise threshold").into())
    }
}

/// Returns the id of the row of `table` with these facts, and inserts it if it is new.
pub(super) fn intern_json<T: Serialize>(sql: Sql<'_>, table: &str, facts: &T) -> Attempt<i64> {
    let known = sql.first(
        &format!("SELECT id FROM {table} WHERE facts = ?1"),
        params![Json(facts)],
        |row| row.get(0),
    )?;
    if let Some(id) = known {
        return Ok(id);
    }
    sql.one(
        &format!("INSERT INTO {table} (facts) VALUES (?1) RETURNING id"),
        params![Json(facts)],
        |row| row.get(0),
    )
}

/// Returns the row id of a benchmark, if the workspace has it.
pub(super) fn find_benchmark(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    key: &BenchmarkKey,
) -> Attempt<Option<i64>> {
    sql.first(
        "SELECT id FROM benchmarks
         WHERE workspace = ?1 AND package = ?2 AND target = ?3 AND name = ?4",
        params![workspace.0, key.package, key.target, key.id],
        |row| row.get(0),
    )
}

/// Returns the benchmarks of `keys` that the workspace has, by row id.
pub(super) fn find_benchmarks(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    keys: &[BenchmarkKey],
) -> Attempt<HashMap<i64, BenchmarkKey>> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let (rows, values) = values_clause(keys, 2);
    let query = format!(
        "SELECT package, target, name, id FROM benchmarks
         WHERE workspace = ?1 AND (package, target, name) IN (VALUES {rows})"
    );
    let mut all: Vec<&dyn ToSql> = vec![&workspace.0];
    all.extend(values);
    let found = sql.all(&query, &all, |row| {
        let key = BenchmarkKey {
            package: row.get(0)?,
            target: row.get(1)?,
            id: row.get(2)?,
        };
        Ok((row.get(3)?, key))
    })?;
    Ok(found.into_iter().collect())
}

/// Returns one row of a VALUES clause for each key, with parameters numbered from `first`, and the values of these parameters.
pub(super) fn values_clause(keys: &[BenchmarkKey], first: usize) -> (String, Vec<&dyn ToSql>) {
    let rows: Vec<String> = (0..keys.len())
        .map(|at| first + 3 * at)
        .map(|at| format!("(?{at}, ?{}, ?{})", at + 1, at + 2))
        .collect();
    let values = keys.iter();
    let values = values.flat_map(|key| [&key.package as &dyn ToSql, &key.target, &key.id]);
    (rows.join(", "), values.collect())
}

/// Returns the row id of a benchmark, and inserts it if it is new.
pub(super) fn intern_benchmark(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    key: &BenchmarkKey,
) -> Attempt<i64> {
    if let Some(id) = find_benchmark(sql, workspace, key)? {
        return Ok(id);
    }
    sql.one(
        "INSERT INTO benchmarks (workspace, package, target, name) VALUES (?1, ?2, ?3, ?4) RETURNING id",
        params![workspace.0, key.package, key.target, key.id],
        |row| row.get(0),
    )
}

/// The conditions that have been read, by row id. Many measurements share the same conditions, which are read only once.
#[derive(Default)]
pub(super) struct KnownConditions(HashMap<i64, Arc<Conditions>>);

impl KnownConditions {
    /// Reads all conditions whose row ids the query `numbers` selects.
    pub(super) fn read(&mut self, sql: Sql<'_>, numbers: &str) -> Attempt<()> {
        let query = format!("SELECT id, facts FROM conditions WHERE id IN ({numbers})");
        let found = sql.all(&query, &[], |row| {
            Ok((row.get(0)?, row.get::<Json<Conditions>>(1)?))
        })?;
        let found = found.into_iter();
        self.0
            .extend(found.map(|(id, Json(conditions))| (id, Arc::new(conditions))));
        Ok(())
    }

    /// Returns the conditions with this row id, and reads them if this has not been done yet.
    pub(super) fn get(&mut self, sql: Sql<'_>, id: i64) -> Attempt<Arc<Conditions>> {
        if let Some(conditions) = self.0.get(&id) {
            return Ok(Arc::clone(conditions));
        }
        let Json(conditions) = sql.one(
            "SELECT facts FROM conditions WHERE id = ?1",
            params![id],
            |row| row.get::<Json<Conditions>>(0),
        )?;
        let conditions = Arc::new(conditions);
        self.0.insert(id, Arc::clone(&conditions));
        Ok(conditions)
    }
}
