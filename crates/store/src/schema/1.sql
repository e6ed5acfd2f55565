-- Version 1. docs/internals/src/store.md says what every column means.

PRAGMA application_id = 0x7066636b;

CREATE TABLE workspaces (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL
) STRICT;

CREATE TABLE environments (
    id INTEGER PRIMARY KEY,
    facts TEXT NOT NULL UNIQUE
) STRICT;

-- AUTOINCREMENT: the number of a deleted run is never used again. A side-by-side measurement has one number: the run of its candidate is N, that of its
-- base is -N. Both are removed together.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace INTEGER NOT NULL REFERENCES workspaces,
    environment INTEGER NOT NULL REFERENCES environments,
    status TEXT NOT NULL DEFAULT 'incomplete' CHECK (status IN ('incomplete', 'complete')),
    acceptance TEXT NOT NULL DEFAULT 'pending' CHECK (acceptance IN ('pending', 'automatic', 'by-command')),
    started INTEGER NOT NULL,
    finished INTEGER,
    exit_code INTEGER,
    git_commit TEXT,
    git_branch TEXT,
    git_dirty INTEGER CHECK (git_dirty IN (0, 1)),
    load REAL,
    seed INTEGER NOT NULL,
    decision TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    partner INTEGER REFERENCES runs ON DELETE CASCADE,
    role TEXT CHECK (role IN ('base', 'candidate')),
    purpose TEXT CHECK (purpose IN ('comparison', 'search', 'control', 'part', 'past')),
    plan TEXT,
    source TEXT,
    -- The former value of `acceptance`, if the user accepted the run, so that this can be undone.
    accepted_from TEXT CHECK (accepted_from IN ('pending', 'automatic')),
    conclusion BLOB,
    -- The name of the run's build in the cache.
    build TEXT,
    -- The part of the suite that the run measured (`--partition`).
    part TEXT,
    -- For a commit of the past (`history --measure`): its time, and what was to be measured.
    committed INTEGER,
    series TEXT,
    CHECK ((git_commit IS NULL) = (git_dirty IS NULL)),
    CHECK ((finished IS NULL) = (status = 'incomplete')),
    CHECK ((role IS NULL) = (partner IS NULL)),
    CHECK (purpose IS 'part' OR (purpose IS NULL) = (partner IS NULL)),
    CHECK ((part IS NULL) = (purpose IS NOT 'part')),
    CHECK (part IS NULL OR acceptance = 'pending'),
    CHECK ((committed IS NULL) = (series IS NULL)),
    CHECK (purpose IS NOT 'past' OR role IS NOT 'candidate' OR committed IS NOT NULL),
    CHECK (purpose IS NOT 'past' OR acceptance = 'pending'),
    CHECK (role IS NOT 'base' OR acceptance = 'pending'),
    CHECK (partner IS NULL OR partner = -id),
    CHECK (id < 0 OR role IS NOT 'base')
) STRICT;
CREATE INDEX runs_by_workspace ON runs (workspace);
CREATE INDEX runs_by_branch ON runs (workspace, git_branch);
CREATE INDEX runs_by_commit ON runs (workspace, git_commit);
CREATE INDEX runs_by_partner ON runs (partner) WHERE partner IS NOT NULL;
-- Only the candidate of a side-by-side measurement can be accepted.
CREATE INDEX accepted_runs ON runs (workspace)
    WHERE acceptance <> 'pending';
CREATE INDEX accepted_runs_by_branch ON runs (workspace, git_branch)
    WHERE acceptance <> 'pending';
CREATE INDEX controls ON runs (workspace) WHERE purpose = 'control' AND role = 'candidate' AND status = 'complete';
CREATE INDEX past_runs ON runs (workspace, committed) WHERE purpose = 'past' AND role = 'candidate' AND status = 'complete';
CREATE INDEX past_runs_by_branch ON runs (workspace, git_branch, committed) WHERE purpose = 'past' AND role = 'candidate' AND status = 'complete';

CREATE TABLE benchmarks (
    id INTEGER PRIMARY KEY,
    workspace INTEGER NOT NULL REFERENCES workspaces,
    package TEXT NOT NULL,
    target TEXT NOT NULL,
    name TEXT NOT NULL,
    runs INTEGER NOT NULL DEFAULT 0,
    UNIQUE (workspace, package, target, name)
) STRICT;

CREATE TABLE conditions (
    id INTEGER PRIMARY KEY,
    facts TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE run_benchmarks (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    benchmark INTEGER NOT NULL REFERENCES benchmarks,
    conditions INTEGER NOT NULL REFERENCES conditions,
    verdict TEXT,
    typical_ns REAL,
    change REAL,
    standard_error REAL,
    reference INTEGER,
    UNIQUE (benchmark, run)
) STRICT;
CREATE INDEX run_benchmarks_by_run ON run_benchmarks (run, verdict);

-- Keeps the number of runs that measured a benchmark, so that listing benchmarks need not count all runs. Base runs, steps of `bisect` and parts do not count.
CREATE TRIGGER run_benchmark_added AFTER INSERT ON run_benchmarks
WHEN EXISTS (SELECT 1 FROM runs WHERE id = new.run AND role IS DISTINCT FROM 'base' AND coalesce(purpose, 'comparison') IN ('comparison', 'past')) BEGIN
    UPDATE benchmarks SET runs = runs + 1 WHERE id = new.benchmark;
END;
CREATE TRIGGER run_removed BEFORE DELETE ON runs
WHEN old.role IS DISTINCT FROM 'base' AND coalesce(old.purpose, 'comparison') IN ('comparison', 'past') BEGIN
    UPDATE benchmarks SET runs = runs - 1 WHERE id IN (SELECT benchmark FROM run_benchmarks WHERE run = old.id);
END;

CREATE TABLE unmeasured (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    benchmark INTEGER NOT NULL REFERENCES benchmarks,
    verdict TEXT NOT NULL,
    reference INTEGER,
    PRIMARY KEY (run, benchmark)
) STRICT, WITHOUT ROWID;
CREATE INDEX unmeasured_by_benchmark ON unmeasured (benchmark);

CREATE TABLE processes (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    package TEXT NOT NULL,
    target TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    started INTEGER NOT NULL,
    padding_bytes INTEGER NOT NULL,
    -- The number of the layout that the process ran, from 0. NULL if the executable was not relinked.
    layout INTEGER,
    harness TEXT,
    harness_version TEXT,
    quantum_ns INTEGER,
    failure TEXT,
    conduct TEXT,
    UNIQUE (run, package, target, ordinal, attempt)
) STRICT;

CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    run_benchmark INTEGER NOT NULL REFERENCES run_benchmarks ON DELETE CASCADE,
    process INTEGER NOT NULL REFERENCES processes ON DELETE CASCADE,
    position INTEGER NOT NULL,
    samples BLOB NOT NULL,
    -- For each quad of a side-by-side round, whether this side was sampled first.
    led TEXT,
    allocations BLOB,
    latencies BLOB,
    UNIQUE (run_benchmark, process)
) STRICT;
CREATE INDEX series_by_process ON series (process);

CREATE TABLE points (
    run_benchmark INTEGER PRIMARY KEY REFERENCES run_benchmarks ON DELETE CASCADE,
    processes INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    from_ramp INTEGER NOT NULL CHECK (from_ramp IN (0, 1)),
    low_quantile REAL,
    median REAL
) STRICT;

CREATE TABLE failures (
    id INTEGER PRIMARY KEY,
    run_benchmark INTEGER NOT NULL REFERENCES run_benchmarks ON DELETE CASCADE,
    process INTEGER NOT NULL REFERENCES processes ON DELETE CASCADE,
    position INTEGER NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('base', 'candidate')),
    message TEXT NOT NULL,
    UNIQUE (run_benchmark, process)
) STRICT;
CREATE INDEX failures_by_process ON failures (process);

-- Instruction counts: a row for each process that was started to count them. A row without iterations has samples of the time of all sampled processes.
CREATE TABLE counts (
    id INTEGER PRIMARY KEY,
    run_benchmark INTEGER NOT NULL REFERENCES run_benchmarks ON DELETE CASCADE,
    position INTEGER NOT NULL,
    iterations INTEGER CHECK (iterations > 0),
    total INTEGER NOT NULL CHECK (total > 0),
    functions TEXT NOT NULL,
    UNIQUE (run_benchmark, position)
) STRICT;

CREATE TABLE baselines (
    workspace INTEGER NOT NULL REFERENCES workspaces,
    name TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX baselines_by_run ON baselines (run);

-- The runs in which the user accepted a new level of a single benchmark.
CREATE TABLE accepted_steps (
    benchmark INTEGER NOT NULL,
    run INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    PRIMARY KEY (benchmark, run),
    FOREIGN KEY (benchmark, run) REFERENCES run_benchmarks (benchmark, run) ON DELETE CASCADE ON UPDATE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX accepted_steps_by_run ON accepted_steps (run);
