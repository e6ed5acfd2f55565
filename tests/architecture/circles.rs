//! Finds circles of files, in which each file leads to all others through imports.

use super::imports::Imports;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the largest sets of two or more files that import each other, directly or indirectly.
pub fn circles(imports: &Imports) -> Vec<BTreeSet<&str>> {
    let ahead: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|file| (file.as_str(), reached(imports, file)))
        .collect();
    let circles = ahead.iter().map(|(from, files)| {
        let leads_back = |file: &&str| ahead.get(file).is_some_and(|files| files.contains(from));
        files.iter().copied().filter(leads_back).collect()
    });
    let distinct: BTreeSet<BTreeSet<&str>> = circles.collect();
    distinct
        .into_iter()
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// Returns the files that `from` imports directly or indirectly.
fn reached<'a>(imports: &'a Imports, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for target in imports.get(file).into_iter().flat_map(|to| to.keys()) {
            if found.insert(target.as_str()) {
                open.push(target);
            }
        }
    }
    found
}

/// Describes the files of a circle, and for each file the imports that lead to other files of the circle.
pub fn described(imports: &Imports, circle: &BTreeSet<&str>) -> String {
    let mut lines = vec![format!("a circle of {} files:", circle.len())];
    for file in circle {
        lines.push(format!("  {file} imports"));
        let within = imports[*file].iter();
        let within = within.filter(|(target, _)| circle.contains(target.as_str()));
        lines.extend(within.map(|(target, path)| format!("    {target}  ({path})")));
    }
    lines.join("\n")
}

mod tests {
    use super::super::imports::imports_of;
    use super::*;

    #[test]
    fn a_circle_is_found_however_long_and_a_line_is_none() {
        let there_and_back = imports_of(&[
            ("src/lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
            ("src/a.rs", "use crate::b::B; pub struct A;"),
            ("src/b.rs", "use crate::c::C; pub struct B;"),
            ("src/c.rs", "pub struct C(crate::a::A); use crate::d::D;"),
            ("src/d.rs", "pub struct D; fn f(_: D) -> D { D }"),
            ("src/e.rs", "use crate::a::A;"),
        ]);
        let found = circles(&there_and_back);
        assert_eq!(
            found,
            [BTreeSet::from(["src/a.rs", "src/b.rs", "src/c.rs"])]
        );
        let described = described(&there_and_back, &found[0]);
        assert!(
            described.contains("src/c.rs imports\n    src/a.rs  (crate::a::A)"),
            "{described}"
        );
        assert!(!described.contains("src/d.rs"), "{described}");
    }
}
