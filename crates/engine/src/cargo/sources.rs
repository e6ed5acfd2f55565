//! Reads from manifests and sources the facts about benchmarks that cargo does not report.

use cargo_metadata::{Package, Target, TargetKind};
use std::fs;
use std::path::Path;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::options::is_library;

/// The attribute of libtest's benches.
const ATTRIBUTE: &str = "#[bench]";

/// Reports whether the source file at `path`, or any file in the directory `path`, has a `#[bench]` function.
pub fn has_libtest_benches(path: &Path) -> bool {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten();
        return entries
            .filter_map(Result::ok)
            .any(|entry| has_libtest_benches(&entry.path()));
    }
    let is_source = path.extension().is_some_and(|extension| extension == "rs");
    let has_attribute = |source: String| {
        let mut lines = source.lines();
        lines.any(|line| line.trim_start().starts_with(ATTRIBUTE))
    };
    is_source && fs::read_to_string(path).is_ok_and(has_attribute)
}

/// Reports whether the manifest sets `bench = true` for the target.
pub(super) fn sets_bench_true(package: &Package, target: &Target) -> bool {
    let text = fs::read_to_string(&package.manifest_path).unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else {
        return false;
    };
    let key = match &target.kind[..] {
        [TargetKind::Bin] => "bin",
        [TargetKind::Example] => "example",
        [TargetKind::Test] => "test",
        _ if is_library(target) => "lib",
        _ => return false,
    };
    let is_on = |entry: &dyn TableLike| entry.get("bench").and_then(Item::as_bool) == Some(true);
    let is_named =
        |entry: &dyn TableLike| entry.get("name").and_then(Item::as_str) == Some(&target.name);
    match document.get(key) {
        Some(Item::ArrayOfTables(tables)) => {
            let mut tables = tables.iter();
            tables.any(|table| is_named(table) && is_on(table))
        }
        Some(Item::Value(Value::Array(values))) => {
            let mut tables = values.iter().filter_map(Value::as_inline_table);
            tables.any(|table| is_named(table) && is_on(table))
        }
        Some(table) => table.as_table_like().is_some_and(is_on),
        None => false,
    }
}
