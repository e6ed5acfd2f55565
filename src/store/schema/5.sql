-- Version 5: allocations, latencies, and where imported runs come from. docs/STORE.md says what every column means.

ALTER TABLE series ADD COLUMN allocations BLOB;
ALTER TABLE series ADD COLUMN latencies BLOB;
ALTER TABLE runs ADD COLUMN source TEXT;
