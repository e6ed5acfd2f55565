-- Version 6: levels of single benchmarks that were accepted. docs/STORE.md says what every column means.

CREATE TABLE accepted_steps (
    benchmark INTEGER NOT NULL,
    run INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    PRIMARY KEY (benchmark, run),
    FOREIGN KEY (benchmark, run) REFERENCES run_benchmarks (benchmark, run) ON DELETE CASCADE ON UPDATE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX accepted_steps_by_run ON accepted_steps (run);

-- What a run was before it was accepted by command, so that this can be undone.
ALTER TABLE runs ADD COLUMN accepted_from TEXT CHECK (accepted_from IN ('pending', 'automatic'));
