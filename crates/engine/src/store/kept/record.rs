//! Keeping executables, and the records of what is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::super::access::Survives;
use super::super::columns::Unsigned;
use super::super::error::{Attempt, Fault};
use super::super::{Store, StoreError};
use super::contents::{KeptFolder, Packed, identify};
use super::error::KeptError;
use super::facts::{KeptContent, KeptFacts, LibraryFact};
use super::{privacy, seal};
use perfcheck_analysis::model::{ContentHash, KeptTarget, RunId, Secret};

/// So often is started anew when another process removes what was to be shared.
const ATTEMPTS: usize = 3;

/// What came of keeping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptSummary {
    /// Executables with a record.
    pub targets: usize,
    /// Compressed bytes that are new in the store.
    pub added_bytes: u64,
    /// Compressed bytes that were there already, kept by other runs.
    pub shared_bytes: u64,
}

/// An executable that a run kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRecord {
    /// What the record says. It is believed only once [`Store::extract`] has checked it.
    pub facts: KeptFacts,
    /// Compressed bytes of the executable and its libraries.
    pub compressed_bytes: u64,
    pub(super) run: RunId,
    pub(super) package: String,
    pub(super) target: String,
    pub(super) workspace: String,
    /// The text of the facts, word for word as it was sealed.
    pub(super) text: String,
    pub(super) origin: Vec<u8>,
    pub(super) mac: Vec<u8>,
}

impl Store {
    /// Keeps the executables that a run was measured with, with their libraries; those that the run kept before under
    /// the same names are replaced. All are kept or none. When this returns they survive a loss of power.
    ///
    /// An executable that another run keeps is stored once. No quota is enforced here: see [`Store::plan_removal`].
    pub fn keep_executables(
        &mut self,
        run: RunId,
        targets: &[KeptTarget],
        secret: &Secret,
    ) -> Result<KeptSummary, StoreError> {
        let contents = KeptFolder::beside(self.path());
        contents.create()?;
        privacy::check_store(self.path(), &contents.directory)?;
        let sources = identify_all(targets)?;
        for _ in 0..ATTEMPTS {
            let packed = pack_missing(&contents, &sources)?;
            let kept = self.write(Survives::PowerLoss, |connection| {
                record_all(
                    connection, run, targets, &sources, &packed, &contents, secret,
                )
            })?;
            if let Some(summary) = kept {
                return Ok(summary);
            }
        }
        Err(KeptError::Gone {
            path: contents.directory,
        }
        .into())
    }

    /// What a run kept, by package and target.
    pub fn kept(&self, run: RunId) -> Result<Vec<KeptRecord>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT k.package, k.target, k.facts, k.origin, k.mac, w.key,
                        (SELECT coalesce(sum(c.compressed), 0) FROM kept_contents u
                         JOIN contents c ON c.hash = u.content WHERE u.kept = k.id)
                 FROM kept k JOIN runs r ON r.id = k.run JOIN workspaces w ON w.id = r.workspace
                 WHERE k.run = ?1 ORDER BY k.package, k.target",
            )?;
            let mut rows = statement.query([run.0])?;
            let mut records = Vec::new();
            while let Some(row) = rows.next()? {
                let text: String = row.get(2)?;
                let facts = serde_json::from_str(&text).map_err(|error| {
                    Fault::Content(format!("run {run}, a kept executable: {error}"))
                })?;
                records.push(KeptRecord {
                    facts,
                    compressed_bytes: row.get::<_, Unsigned>(6)?.0,
                    run,
                    package: row.get(0)?,
                    target: row.get(1)?,
                    workspace: row.get(5)?,
                    text,
                    origin: row.get(3)?,
                    mac: row.get(4)?,
                });
            }
            Ok(records)
        })
    }
}

/// What every file of the targets holds.
fn identify_all(targets: &[KeptTarget]) -> Result<BTreeMap<PathBuf, KeptContent>, StoreError> {
    let mut sources = BTreeMap::new();
    for target in targets {
        let libraries = target.libraries.iter().map(|library| &library.path);
        for path in std::iter::once(&target.program).chain(libraries) {
            if !sources.contains_key(path) {
                sources.insert(path.clone(), identify(path)?);
            }
        }
    }
    Ok(sources)
}

/// Compresses what is not stored yet, or no longer in good state.
fn pack_missing(
    contents: &KeptFolder,
    sources: &BTreeMap<PathBuf, KeptContent>,
) -> Result<BTreeMap<ContentHash, Packed>, StoreError> {
    let mut packed = BTreeMap::new();
    for (path, content) in sources {
        if !packed.contains_key(&content.hash) && !contents.is_sound(*content) {
            packed.insert(content.hash, contents.pack(path, *content)?);
        }
    }
    Ok(packed)
}

/// Names the contents and records the targets; `None` if a content that was there has gone in between.
fn record_all(
    connection: &Connection,
    run: RunId,
    targets: &[KeptTarget],
    sources: &BTreeMap<PathBuf, KeptContent>,
    packed: &BTreeMap<ContentHash, Packed>,
    contents: &KeptFolder,
    secret: &Secret,
) -> Attempt<Option<KeptSummary>> {
    let workspace: String = connection
        .query_row(
            "SELECT w.key FROM runs r JOIN workspaces w ON w.id = r.workspace WHERE r.id = ?1",
            [run.0],
            |row| row.get(0),
        )
        .optional()?
        .ok_or(StoreError::NoSuchRun { run })?;
    let mut summary = KeptSummary {
        targets: targets.len(),
        ..KeptSummary::default()
    };
    let all: BTreeMap<ContentHash, KeptContent> = sources
        .values()
        .map(|content| (content.hash, *content))
        .collect();
    for content in all.values() {
        let compressed = match packed.get(&content.hash) {
            Some(packed) => {
                contents.place(packed)?;
                summary.added_bytes += packed.compressed;
                packed.compressed
            }
            None => match contents.compressed(content.hash) {
                Some(compressed) => {
                    summary.shared_bytes += compressed;
                    compressed
                }
                None => return Ok(None),
            },
        };
        connection.execute(
            "INSERT INTO contents (hash, size, compressed) VALUES (?1, ?2, ?3)
             ON CONFLICT (hash) DO UPDATE SET compressed = excluded.compressed",
            params![content.hash.0, Unsigned(content.size), Unsigned(compressed)],
        )?;
    }
    contents.sync()?;
    for target in targets {
        let facts = facts_of(target, run, &workspace, sources)?;
        record(connection, run, &facts, secret)?;
    }
    Ok(Some(summary))
}

fn record(connection: &Connection, run: RunId, facts: &KeptFacts, secret: &Secret) -> Attempt<()> {
    let text = serde_json::to_string(facts).map_err(|error| Fault::Content(error.to_string()))?;
    connection.execute(
        "DELETE FROM kept WHERE run = ?1 AND package = ?2 AND target = ?3",
        params![run.0, facts.package, facts.target],
    )?;
    let kept: i64 = connection.query_row(
        "INSERT INTO kept (run, package, target, facts, origin, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
        params![
            run.0,
            facts.package,
            facts.target,
            text,
            seal::origin(secret),
            seal::mac(secret, &text)
        ],
        |row| row.get(0),
    )?;
    for content in facts.contents() {
        connection.execute(
            "INSERT OR IGNORE INTO kept_contents (kept, content) VALUES (?1, ?2)",
            params![kept, content.hash.0],
        )?;
    }
    Ok(())
}

fn facts_of(
    target: &KeptTarget,
    run: RunId,
    workspace: &str,
    sources: &BTreeMap<PathBuf, KeptContent>,
) -> Result<KeptFacts, StoreError> {
    let content = |path: &Path| sources[path];
    let name = target.program.file_name().and_then(|name| name.to_str());
    Ok(KeptFacts {
        run,
        workspace: workspace.to_owned(),
        package: target.package.clone(),
        target: target.target.clone(),
        name: name.ok_or_else(|| nameless(&target.program))?.to_owned(),
        program: content(&target.program),
        arguments: target.arguments.clone(),
        directory: target.directory.clone(),
        variables: target.variables.clone(),
        libraries: target
            .libraries
            .iter()
            .map(|library| {
                // It becomes a file name: it must not lead elsewhere.
                let is_name = Path::new(&library.name).file_name() == Some(library.name.as_ref());
                if is_name {
                    Ok(LibraryFact {
                        name: library.name.clone(),
                        content: content(&library.path),
                    })
                } else {
                    Err(nameless(&library.path))
                }
            })
            .collect::<Result<_, _>>()?,
        opened_below: target.opened_below.clone(),
        opened: target.opened.clone(),
    })
}

fn nameless(path: &Path) -> StoreError {
    let source = std::io::Error::other("its name is no file name in Unicode");
    StoreError::of_file(path, "keep", source)
}
