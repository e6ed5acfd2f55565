-- Version 3: kept executables. docs/STORE.md says what every column means.

CREATE TABLE kept (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    package TEXT NOT NULL,
    target TEXT NOT NULL,
    facts TEXT NOT NULL,
    origin BLOB NOT NULL,
    mac BLOB NOT NULL,
    UNIQUE (run, package, target)
) STRICT;

CREATE TABLE contents (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    size INTEGER NOT NULL,
    compressed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE kept_contents (
    kept INTEGER NOT NULL REFERENCES kept ON DELETE CASCADE,
    content BLOB NOT NULL REFERENCES contents,
    PRIMARY KEY (kept, content)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_contents_by_content ON kept_contents (content);
