//! Determines which files of a crate import which others. Each path in the code is resolved to the file that defines the item at its end.

use super::modules::{Meaning, Segments, Tree};
use super::sources::Source;
use std::collections::{BTreeMap, BTreeSet};

/// For each file, the files that it imports because it names one of their items. Each imported file comes with the longest path by which the code
/// names an item in it.
pub type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// Returns the imports between `files`, which must be all files of one crate. Circles cannot span crates, because cargo forbids them.
pub fn imports(files: &[Source]) -> Imports {
    let tree = Tree::read(files);
    let mut found = Imports::new();
    for (index, module) in tree.modules.iter().enumerate() {
        let from = &files[module.file].path;
        for path in &module.mentions {
            for file in resolve(&tree, index, path) {
                if file != module.file {
                    let targets = found.entry(from.clone()).or_default();
                    let shown = targets.entry(files[file].path.clone()).or_default();
                    let path = path.join("::");
                    if path.len() > shown.len() {
                        *shown = path;
                    }
                }
            }
        }
    }
    found
}

/// Returns the files that `path` leads to if `module` mentions it: the file that defines the item, and the files on the way that re-export the item.
/// A file that only maps modules does not count.
fn resolve(tree: &Tree, module: usize, path: &[String]) -> BTreeSet<usize> {
    let mut search = Search {
        tree,
        asked: BTreeSet::new(),
        found: BTreeSet::new(),
    };
    search.from(module, path);
    search.found
}

/// How a search looks a name up in a module: `Scope` in the module where the search begins, `Named` in modules that it reaches through a path, `Glob`
/// in modules that it reaches through a glob import.
#[derive(Clone, Copy, PartialEq)]
enum View {
    Scope,
    Named,
    Glob,
}

struct Search<'a> {
    tree: &'a Tree<'a>,
    /// The module and path of each lookup so far. A lookup is not repeated, so the search ends even if imports are circular.
    asked: BTreeSet<(usize, Segments)>,
    found: BTreeSet<usize>,
}

impl Search<'_> {
    fn from(&mut self, module: usize, path: &[String]) -> bool {
        match anchor(self.tree, module, path) {
            Some((start, rest)) => self.member(start, rest, View::Named),
            None => self.member(module, path, View::Scope),
        }
    }

    /// Looks up the first name of `path` in `module` and follows the rest of the path. Returns true if the name exists.
    fn member(&mut self, module: usize, path: &[String], view: View) -> bool {
        let Some((name, rest)) = path.split_first() else {
            return true; // The path names the module itself. Only uses of its items count.
        };
        if !self.asked.insert((module, path.to_vec())) {
            return false;
        }
        let here = &self.tree.modules[module];
        let is_map = self.tree.is_map(here.file);
        let meanings = here.names.get(name).map_or(&[][..], Vec::as_slice);
        let has_module = meanings
            .iter()
            .any(|meaning| matches!(meaning, Meaning::Module(_)));
        for meaning in meanings {
            match meaning {
                Meaning::Module(child) => {
                    self.member(*child, rest, View::Named);
                }
                _ if has_module && !rest.is_empty() => {}
                Meaning::Item => {
                    self.found.insert(here.file);
                }
                Meaning::Import(target) => {
                    if view != View::Scope && !is_map {
                        self.found.insert(here.file);
                    }
                    self.from(module, &[target.as_slice(), rest].concat());
                }
            }
        }
        if !meanings.is_empty() {
            return true;
        }
        for glob in &here.globs {
            if let Some(target) = module_at(self.tree, module, glob, 0)
                && self.member(target, path, View::Glob)
            {
                return true;
            }
        }
        // If a path names something that its file does not define, a macro in that file must define it.
        let is_made = view == View::Named && !is_map;
        if is_made {
            self.found.insert(here.file);
        }
        is_made
    }
}

/// Resolves `crate`, `self` and `super` at the beginning of `path`. Returns their module and the rest of the path.
fn anchor<'a>(tree: &Tree, module: usize, path: &'a [String]) -> Option<(usize, &'a [String])> {
    let above = |module: usize| tree.modules[module].parent;
    let (mut at, mut rest) = match path.first()?.as_str() {
        "crate" => {
            let mut root = module;
            while let Some(parent) = above(root) {
                root = parent;
            }
            (root, &path[1..])
        }
        "self" => (module, &path[1..]),
        "super" => (above(module)?, &path[1..]),
        _ => return None,
    };
    while rest.first().is_some_and(|segment| segment == "super") {
        (at, rest) = (above(at)?, &rest[1..]);
    }
    Some((at, rest))
}

/// Returns the module that `path` names.
fn module_at(tree: &Tree, module: usize, path: &[String], depth: usize) -> Option<usize> {
    if depth > 16 {
        return None;
    }
    let (mut at, mut rest) = anchor(tree, module, path).unwrap_or((module, path));
    while let Some((name, following)) = rest.split_first() {
        at = tree.modules[at]
            .names
            .get(name)?
            .iter()
            .find_map(|meaning| match meaning {
                Meaning::Module(child) => Some(*child),
                Meaning::Import(target) => module_at(tree, at, target, depth + 1),
                Meaning::Item => None,
            })?;
        rest = following;
    }
    Some(at)
}

/// Returns the imports between the files of a crate. Each file is given by its path and its text.
pub fn imports_of(files: &[(&str, &str)]) -> Imports {
    let files: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::new(path, text))
        .collect();
    imports(&files)
}

mod tests {
    use super::imports_of;

    /// Returns the files that `src/user.rs` imports if its text is `user`, in a crate with two folders.
    fn imported_by(user: &str) -> Vec<String> {
        let all = imports_of(&[
            ("src/lib.rs", "pub mod shelf; pub mod plain; mod user;"),
            (
                "src/shelf/mod.rs",
                "mod books; mod prints; pub use books::{Book as Volume, open}; pub use prints::*; pub mod made;",
            ),
            (
                "src/shelf/books.rs",
                "use super::Print; pub struct Book(Print); pub fn open() {} #[cfg(test)] mod tests { use crate::user; fn f() { user::f() } }",
            ),
            ("src/shelf/prints.rs", "pub enum Print { Large }"),
            ("src/shelf/made.rs", "newtype!(Made);"),
            (
                "src/plain.rs",
                "pub use crate::shelf::open; pub mod deep { pub fn f() {} }",
            ),
            ("src/user.rs", user),
        ]);
        assert_eq!(
            all["src/shelf/books.rs"].keys().collect::<Vec<_>>(),
            ["src/shelf/prints.rs"]
        );
        let of_user = all.get("src/user.rs").cloned().unwrap_or_default();
        of_user.into_keys().collect()
    }

    #[test]
    fn imports_lead_to_the_file_that_defines_the_item() {
        let books: &[&str] = &["src/shelf/books.rs"];
        let prints: &[&str] = &["src/shelf/prints.rs"];
        let made: &[&str] = &["src/shelf/made.rs"];
        for (planted, expected) in [
            ("use crate::shelf::Volume;", books),
            ("use crate::{shelf::{self, open}};", books),
            ("use super::shelf; fn f() { shelf::open() }", books),
            ("fn f() { call!(crate::shelf::open()) }", books),
            ("fn f() { use crate::shelf::Volume; }", books),
            ("mod inner { use super::super::shelf::Volume; }", books),
            ("use crate::shelf as s; type V = s::Volume;", books),
            ("use crate::shelf::Print::{self, Large};", prints),
            ("use crate::shelf::*; type P = Print;", prints),
            ("use crate::shelf::made::Made;", made),
            // If a file re-exports an item and is not a pure module map, both this file and the file with the item count as imported.
            (
                "use crate::plain::open;",
                &["src/plain.rs", "src/shelf/books.rs"],
            ),
            ("fn f() { crate::plain::deep::f() }", &["src/plain.rs"]),
            // These paths use no item.
            ("use crate::shelf;", &[]),
            ("use crate::shelf::*;", &[]),
            ("pub(in crate::shelf) fn f() {}", &[]),
            ("#[cfg(test)] use crate::shelf::Volume;", &[]),
            ("#[cfg(test)] mod tests { use crate::shelf::open; }", &[]),
            (
                "use std::{fs, io::{self, Write}}; fn f(open: u8) { self.open(); }",
                &[],
            ),
        ] {
            assert_eq!(imported_by(planted), expected, "{planted}");
        }
    }
}
