-- Version 2: measurements in pairs. docs/STORE.md says what every column means.

-- The other side of an A/B measurement: both rows name each other, and go together.
ALTER TABLE runs ADD COLUMN partner INTEGER REFERENCES runs ON DELETE CASCADE
    CHECK (partner <> id);
ALTER TABLE runs ADD COLUMN role TEXT
    CHECK (role IN ('base', 'candidate'))
    CHECK ((role IS NULL) = (partner IS NULL))
    CHECK (role IS NOT 'base' OR acceptance = 'pending');
ALTER TABLE runs ADD COLUMN plan TEXT;
ALTER TABLE runs ADD COLUMN purpose TEXT
    CHECK (purpose IN ('comparison', 'confirmation', 'search'))
    CHECK ((purpose IS NULL) = (partner IS NULL));
CREATE INDEX runs_by_partner ON runs (partner) WHERE partner IS NOT NULL;

-- A side of a pair is sampled in another way than a run of its own: it never serves as a reference by itself.
DROP INDEX accepted_runs;
DROP INDEX accepted_runs_by_branch;
CREATE INDEX accepted_runs ON runs (workspace)
    WHERE acceptance <> 'pending' AND partner IS NULL;
CREATE INDEX accepted_runs_by_branch ON runs (workspace, git_branch)
    WHERE acceptance <> 'pending' AND partner IS NULL;
