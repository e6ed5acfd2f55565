-- Version 4: how processes ran, which side led; controls. docs/STORE.md says what every column means.

ALTER TABLE launches ADD COLUMN conduct TEXT;
ALTER TABLE series ADD COLUMN led TEXT;

-- A CHECK cannot be changed in place: the column moves.
ALTER TABLE runs ADD COLUMN purpose_with_control TEXT
    CHECK (purpose_with_control IN ('comparison', 'confirmation', 'search', 'control'));
UPDATE runs SET purpose_with_control = purpose;
ALTER TABLE runs DROP COLUMN purpose;
ALTER TABLE runs RENAME COLUMN purpose_with_control TO purpose;
CREATE INDEX controls ON runs (workspace) WHERE purpose = 'control' AND role = 'candidate' AND status = 'complete';

-- What version 2 said in a CHECK, which a new column cannot say of rows that are there.
CREATE TRIGGER purpose_of_a_new_pair BEFORE INSERT ON runs
WHEN (new.purpose IS NULL) <> (new.partner IS NULL) BEGIN
    SELECT RAISE(ABORT, 'a run has a purpose if it has a partner');
END;
CREATE TRIGGER purpose_of_a_pair BEFORE UPDATE OF purpose, partner ON runs
WHEN (new.purpose IS NULL) <> (new.partner IS NULL) BEGIN
    SELECT RAISE(ABORT, 'a run has a purpose if it has a partner');
END;
