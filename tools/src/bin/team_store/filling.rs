//! Copies a run many times: in a team's store by statements of the server, in a file through the store's interface.

use std::ops::Range;
use std::path::Path;

use perfcheck_analysis::model::{NewRun, ProcessRecord, RunEnd, RunId, Timestamp};
use perfcheck_store::{Store, WorkspaceId};

use crate::Failure;
use crate::postgres::Server;

/// The amount of data in the store.
pub(crate) struct Scale {
    pub(crate) runs: usize,
    pub(crate) benchmarks: usize,
    pub(crate) processes: usize,
    pub(crate) samples: usize,
}

const FIVE_YEARS: usize = 5 * 365 * 86_400;
const SECOND: i64 = 1_000_000_000;

/// Copies the first run to dates over five years, every fifth copy on another branch, with values that drift.
const FILL: &str = "
SET search_path TO perfcheck;
SET session_replication_role TO replica;
SET synchronous_commit TO off;
CREATE TEMP TABLE step AS SELECT BIGINT 'STEP' * 1000000000 AS ns, r.* FROM runs r WHERE id = 1;
UPDATE runs SET started = started - (RUNS + 1) * BIGINT 'STEP' * 1000000000, finished = finished - (RUNS + 1) * BIGINT 'STEP' * 1000000000 WHERE id = 1;
INSERT INTO runs (id, workspace, environment, status, acceptance, started, finished, exit_code, git_commit, git_branch, git_dirty, load, seed,
                  decision, tool_version, conclusion)
    SELECT 1 + g, workspace, environment, status, acceptance, started - (RUNS + 1 - g) * ns, finished - (RUNS + 1 - g) * ns, exit_code,
           md5(g::TEXT) || '00000000', CASE WHEN g % 5 = 0 THEN 'side' ELSE git_branch END, git_dirty, load, g, decision, tool_version, conclusion
    FROM step, generate_series(1, RUNS) g;
INSERT INTO run_benchmarks (id, run, benchmark, conditions, verdict, typical_ns, change, reference)
    SELECT g * BENCHMARKS + id, 1 + g, benchmark, conditions, 'unchanged', typical_ns * (1 + (g * 7919 + benchmark * 31) % 100 / 5000.0), 0.001, g
    FROM generate_series(1, RUNS) g, (SELECT * FROM run_benchmarks WHERE run = 1 ORDER BY id) rb;
CREATE TEMP TABLE numbers AS
    SELECT g, l.id AS copied, process_number(s.started - (RUNS + 1 - g) * ns) AS process
    FROM generate_series(1, RUNS) g, (SELECT id FROM processes WHERE run = 1 ORDER BY id) l, step s;
ANALYZE numbers;
INSERT INTO processes (id, run, package, target, ordinal, attempt, started, padding_bytes, layout, harness, harness_version, quantum_ns, failure,
                      conduct)
    SELECT n.process, 1 + g, package, target, ordinal, attempt, l.started - (RUNS + 1 - g) * ns, padding_bytes, layout, harness,
           harness_version, quantum_ns, failure, conduct
    FROM numbers n JOIN processes l ON l.id = n.copied, (SELECT ns FROM step) s;
INSERT INTO series (run_benchmark, process, position, samples, led, allocations, latencies)
    SELECT g * BENCHMARKS + run_benchmark, n.process, position, samples, led, allocations, latencies
    FROM numbers n JOIN (SELECT s.* FROM processes l JOIN series s ON s.process = l.id WHERE l.run = 1) s ON s.process = n.copied;
UPDATE benchmarks SET runs = runs + RUNS;
SELECT setval('runs_id_seq', (SELECT max(id) FROM runs)), setval('run_benchmarks_id_seq', (SELECT max(id) FROM run_benchmarks));";

/// Settings that speed up the server while it is filled.
const HASTE: [&str; 4] = [
    "fsync TO off",
    "max_wal_size TO '4GB'",
    "autovacuum TO off",
    "maintenance_work_mem TO '512MB'",
];

/// A store that is filled with copies of its first run.
pub(crate) struct Copied {
    database: String,
    /// The number that the second real run has once it is sent. It is then the newest run.
    pub(crate) newest: i64,
    samples: usize,
    series: usize,
    runs: usize,
}

impl Copied {
    /// Copies the only run of a store.
    pub(crate) fn of_first_run(
        server: &Server,
        address: &str,
        scale: &Scale,
    ) -> Result<Self, Failure> {
        let database = address.rsplit('/').next().unwrap_or_default().to_owned();
        let run = |statement: &str| {
            let done = server.sql(&database, statement);
            done.ok_or_else(|| format!("PostgreSQL refused: {statement}"))
        };
        for setting in HASTE {
            run(&format!("ALTER SYSTEM SET {setting}"))?;
        }
        run("SELECT pg_reload_conf()")?;
        let series = run("SELECT count(*) FROM perfcheck.series")?.parse()?;
        run(&FILL
            .replace("RUNS", &scale.runs.to_string())
            .replace("BENCHMARKS", &scale.benchmarks.to_string())
            .replace("STEP", &(FIVE_YEARS / scale.runs.max(1)).to_string()))?;
        run("VACUUM ANALYZE")?;
        for setting in HASTE {
            let (name, _) = setting.split_once(' ').unwrap_or_default();
            run(&format!("ALTER SYSTEM RESET {name}"))?;
        }
        run("SELECT pg_reload_conf()")?;
        run("CHECKPOINT")?;
        Ok(Self {
            database,
            newest: i64::try_from(scale.runs)? + 2,
            samples: series * scale.samples,
            series,
            runs: scale.runs + 1,
        })
    }

    /// Prints the size of tables, and the bytes per sample, compared with those of a file with the same runs.
    pub(crate) fn sizes(&self, server: &Server, measured: &Path) -> Result<(), Failure> {
        let told = server.sql(
            &self.database,
            "SELECT coalesce(p.relname, c.relname), sum(pg_total_relation_size(c.oid)), sum(pg_table_size(c.oid))
             FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
             WHERE c.relnamespace = 'perfcheck'::regnamespace AND c.relkind = 'r' GROUP BY 1 ORDER BY 2 DESC",
        );
        let told = told.ok_or("no sizes")?;
        let mut total = 0.0;
        for line in told.lines() {
            let mut parts = line.split('|');
            let name = parts.next().unwrap_or_default();
            let mut bytes = || parts.next().and_then(|part| part.parse::<f64>().ok());
            let (all, table) = (bytes().unwrap_or(0.0), bytes().unwrap_or(0.0));
            total += all;
            if all > 1e6 {
                println!(
                    "{name:<18} {:>10.1} MB, {:>8.1} MB of it indexes",
                    all / 1e6,
                    (all - table) / 1e6
                );
            }
        }
        let here = total / self.runs as f64;
        let runs = self.runs.min(1_000);
        let file = measured.with_extension("copies.db");
        copy_into_file(measured, &file, 0..runs)?;
        let there = std::fs::metadata(&file)?.len() as f64 / runs as f64;
        for (what, bytes) in [("PostgreSQL", here), ("SQLite", there)] {
            println!(
                "{what:<18} {bytes:>10.0} bytes a run, {:>6.1} a series, {:>5.2} a sample",
                bytes / self.series as f64,
                bytes / self.samples as f64
            );
        }
        println!(
            "{:<18} {:>10.1} MB, {} runs",
            "the database",
            total / 1e6,
            self.runs
        );
        Ok(())
    }
}

/// All data of a run.
struct Whole {
    run: NewRun,
    processes: Vec<ProcessRecord>,
    end: RunEnd,
}

impl Whole {
    /// Reads the first run of a file.
    fn read(path: &Path) -> Result<(Self, String), Failure> {
        let store = crate::store(&path.display().to_string())?;
        let workspace = store
            .workspaces()?
            .into_iter()
            .next()
            .ok_or("no workspace")?;
        let id = RunId(1);
        let found = store.run_summary(id)?;
        let run = found.run;
        let end = RunEnd {
            finished: run.finished.ok_or("not ended")?,
            acceptance: run.acceptance,
            exit_code: found.exit_code.unwrap_or(0),
            verdicts: store.verdicts(id)?,
            conclusion: store.conclusion(id)?,
        };
        let whole = Self {
            processes: store.process_records(id)?,
            run: run.begun.without_build(),
            end,
        };
        Ok((whole, workspace.key))
    }

    /// Writes the run with another time and seed.
    fn write(
        &self,
        store: &mut Store,
        workspace: WorkspaceId,
        place: usize,
    ) -> Result<(), Failure> {
        let mut run = self.run.clone();
        run.started = Timestamp(run.started.0 - i64::try_from(place)? * 3_600 * SECOND);
        run.seed = run.seed.wrapping_add(place as u64);
        let id = store.begin_run(workspace, &run)?;
        for process in &self.processes {
            store.record_process(id, process)?;
        }
        store.finish_run(id, &self.end)?;
        Ok(())
    }
}

/// Writes a file with copies of another file's first run, at other times.
pub(crate) fn copy_into_file(
    measured: &Path,
    file: &Path,
    places: Range<usize>,
) -> Result<(), Failure> {
    let (whole, key) = Whole::read(measured)?;
    let mut store = Store::open(file)?;
    let workspace = store.ensure_workspace(&key, "/copies")?;
    for place in places {
        whole.write(&mut store, workspace, place)?;
    }
    Ok(())
}
