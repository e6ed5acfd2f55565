//! Reads the files of one crate as a tree of modules: which names each module defines or imports, and which paths its code mentions.
//!
//! Macro calls are read like other code. Code that only tests compile is left out.

use super::scanner::contains;
use super::sources::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The segments of a path, e.g. `crate`, `store`, `Store`.
pub type Segments = Vec<String>;

/// A module of a crate: a file, or an inline module in a file.
#[derive(Default)]
pub struct Module {
    /// The index of the file that contains the module.
    pub file: usize,
    /// The index of the module that declares this one. A crate's root has none.
    pub parent: Option<usize>,
    /// What each name in the module can mean. A name can have several meanings, such as a module and a function.
    pub names: BTreeMap<String, Vec<Meaning>>,
    /// The paths of the module's glob imports, without the `*`.
    pub globs: Vec<Segments>,
    /// The paths that the code and the imports of the module mention. Re-exports of a module map are left out, because a re-export does not use the
    /// item.
    pub mentions: BTreeSet<Segments>,
}

/// The meaning of a name in a module.
pub enum Meaning {
    /// A module, given by its index in [`Tree::modules`].
    Module(usize),
    /// An item that the module defines.
    Item,
    /// An import of the item at this path, which may be in another module.
    Import(Segments),
}

/// All modules of a crate, except those that only tests compile. The first module of a file is the file itself.
pub struct Tree<'a> {
    files: &'a [Source],
    pub modules: Vec<Module>,
}

impl<'a> Tree<'a> {
    /// Reads the modules that the crate's roots among `files` declare.
    pub fn read(files: &'a [Source]) -> Self {
        let mut tree = Self {
            files,
            modules: Vec::new(),
        };
        for (file, source) in files.iter().enumerate() {
            if source.path.ends_with("src/lib.rs") || source.path.ends_with("src/main.rs") {
                tree.read_file(file, None);
            }
        }
        tree
    }

    /// Returns true if the file at this index only maps modules. Imports lead through such a file to the file with the item.
    pub fn is_map(&self, file: usize) -> bool {
        let path = &self.files[file].path;
        path.ends_with("/mod.rs") || path.ends_with("src/lib.rs")
    }

    fn read_file(&mut self, file: usize, parent: Option<usize>) -> usize {
        let tokens = without_tests(&self.files[file].tokens);
        self.read_module(file, parent, &tokens)
    }

    fn read_module(&mut self, file: usize, parent: Option<usize>, tokens: &[String]) -> usize {
        let this = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            ..Module::default()
        });
        let mut at = 0;
        let mut attributes: &[String] = &[];
        let mut is_public = false;
        while at < tokens.len() {
            let word = tokens[at].as_str();
            let next = tokens.get(at + 1).map_or("", String::as_str);
            let end = match word {
                "#" => end_of_group(tokens, if next == "!" { at + 2 } else { at + 1 }),
                "pub" if next == "(" => end_of_group(tokens, at + 1),
                "pub" | "unsafe" | "async" | "default" => at + 1,
                "const" if matches!(next, "fn" | "unsafe" | "async" | "extern") => at + 1,
                "use" | "const" | "static" | "type" => end_of_item(tokens, at, false),
                _ => end_of_item(tokens, at, true),
            };
            match word {
                "#" => attributes = &tokens[at..end],
                "pub" => is_public = true,
                "unsafe" | "async" | "default" => {}
                "mod" => self.read_child(this, next, &tokens[at + 2..end], attributes),
                "use" => {
                    let is_mention = !(is_public && self.is_map(file));
                    self.read_use(this, &tokens[at + 1..end], is_mention);
                }
                _ => {
                    if let Some(name) = defined(&tokens[at..end]) {
                        let meanings = self.modules[this].names.entry(name.to_owned());
                        meanings.or_default().push(Meaning::Item);
                    }
                    self.read_code(this, &tokens[at..end]);
                }
            }
            if !matches!(word, "#" | "pub" | "unsafe" | "async" | "default") {
                (attributes, is_public) = (&[], false);
            }
            at = end;
        }
        this
    }

    /// Reads `mod name;` or, if it has a `body`, `mod name { ... }`.
    fn read_child(&mut self, parent: usize, name: &str, body: &[String], attributes: &[String]) {
        let mut children = Vec::new();
        let file = self.modules[parent].file;
        if let [_, inner @ .., _] = body {
            children.push(self.read_module(file, Some(parent), inner));
        } else {
            let stated = stated_path(attributes).map(|path| beside(&self.files[file].path, &path));
            let below = folder(&self.files[file].path);
            let usual = [format!("{below}{name}.rs"), format!("{below}{name}/mod.rs")];
            for path in usual.into_iter().chain(stated) {
                if let Some(file) = self.files.iter().position(|source| source.path == path) {
                    children.push(self.read_file(file, Some(parent)));
                }
            }
        }
        let meanings = self.modules[parent].names.entry(name.to_owned());
        let meanings = meanings.or_default();
        meanings.extend(children.into_iter().map(Meaning::Module));
    }

    fn read_use(&mut self, module: usize, tree: &[String], is_mention: bool) {
        let mut imports = Vec::new();
        flatten(&[], tree, &mut imports);
        let module = &mut self.modules[module];
        for (mut path, name) in imports {
            if path.last().is_some_and(|last| last == "*") {
                path.pop();
                module.globs.push(path.clone());
            } else {
                let meanings = module.names.entry(name).or_default();
                meanings.push(Meaning::Import(path.clone()));
            }
            if is_mention {
                module.mentions.insert(path);
            }
        }
    }

    /// Records the paths in an item. Imports inside functions count as imports of the module.
    fn read_code(&mut self, module: usize, tokens: &[String]) {
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| &tokens[before]);
            match tokens[at].as_str() {
                "use" if matches!(before, "{" | "}" | ";") => {
                    let end = end_of_item(tokens, at, false);
                    self.read_use(module, &tokens[at + 1..end], true);
                    at = end;
                }
                "pub" if tokens.get(at + 1).is_some_and(|next| next == "(") => {
                    at = end_of_group(tokens, at + 1);
                }
                word if is_name(word) => {
                    let mut path = vec![word.to_owned()];
                    let mut end = at + 1;
                    while let [colons, next, ..] = &tokens[end..]
                        && colons == "::"
                        && is_name(next)
                    {
                        path.push(next.clone());
                        end += 2;
                    }
                    if !matches!(before, "." | "::") {
                        self.modules[module].mentions.insert(path);
                    }
                    at = end;
                }
                _ => at += 1,
            }
        }
    }
}

/// Returns the path of the file that `#[path = "..."]` names in the file `from`.
fn beside(from: &str, path: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{folder}/{path}")
}

/// Returns the folder with the children of the module file at `path`, with a `/` at the end.
fn folder(path: &str) -> String {
    let inner = path.strip_suffix(".rs").unwrap_or(path);
    let (above, name) = inner.rsplit_once('/').unwrap_or(("", inner));
    if matches!(name, "mod" | "lib" | "main") {
        format!("{above}/")
    } else {
        format!("{inner}/")
    }
}

/// Returns the value of `path = "..."` in attributes.
fn stated_path(attributes: &[String]) -> Option<String> {
    let at = attributes
        .windows(2)
        .position(|pair| pair[0] == "path" && pair[1] == "=")?;
    let literal = attributes.get(at + 2)?;
    Some(literal.trim_matches('"').to_owned())
}

/// Returns `tokens` without the items that only tests compile.
pub fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let attribute_end = if tokens[at] == "#" {
            end_of_group(tokens, at + 1)
        } else {
            at + 1
        };
        let attribute = &tokens[at..attribute_end];
        let for_tests = contains(attribute, &["cfg", "(", "test"])
            || contains(attribute, &["cfg", "(", "all", "(", "test"]);
        at = attribute_end;
        if for_tests {
            while tokens.get(at).is_some_and(|token| token == "#") {
                at = end_of_group(tokens, at + 1);
            }
            let ends_with_braces = tokens.get(at).is_none_or(|token| token != "use");
            at = end_of_item(tokens, at, ends_with_braces);
        } else {
            kept.extend_from_slice(attribute);
        }
    }
    kept
}

/// Returns the index after the group of brackets that opens at `at`.
fn end_of_group(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (offset, token) in tokens[at.min(tokens.len())..].iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + offset + 1;
        }
    }
    tokens.len()
}

/// Returns the index after the `;` or the group of braces that ends the item at `at`.
fn end_of_item(tokens: &[String], mut at: usize, ends_with_braces: bool) -> usize {
    while at < tokens.len() {
        match tokens[at].as_str() {
            ";" => return at + 1,
            "{" if ends_with_braces => return end_of_group(tokens, at),
            "(" | "[" | "{" => at = end_of_group(tokens, at),
            _ => at += 1,
        }
    }
    tokens.len()
}

/// Returns the name of the item at the beginning of `tokens`, if it has one.
fn defined(tokens: &[String]) -> Option<&str> {
    let name = match tokens {
        [keyword, mutable, name, ..] if keyword == "static" && mutable == "mut" => name,
        [keyword, bang, name, ..] if keyword == "macro_rules" && bang == "!" => name,
        [keyword, name, ..] => {
            let defines = [
                "fn", "struct", "enum", "union", "trait", "type", "static", "const",
            ];
            if !defines.contains(&keyword.as_str()) {
                return None;
            }
            name
        }
        _ => return None,
    };
    is_name(name).then_some(name)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Collects all paths of the tree of a `use`, each with the name that it introduces.
fn flatten(prefix: &[String], tree: &[String], found: &mut Vec<(Segments, String)>) {
    let mut path = prefix.to_vec();
    let mut at = 0;
    let mut name = None;
    while at < tree.len() {
        match tree[at].as_str() {
            "{" => {
                let end = end_of_group(tree, at);
                for branch in branches(&tree[at + 1..end - 1]) {
                    flatten(&path, branch, found);
                }
                return;
            }
            "as" => {
                name = tree.get(at + 1).cloned();
                at += 2;
            }
            "::" | ";" => at += 1,
            "self" if !path.is_empty() => at += 1,
            segment => {
                path.push(segment.to_owned());
                at += 1;
            }
        }
    }
    if let Some(last) = path.last().cloned() {
        found.push((path, name.unwrap_or(last)));
    }
}

/// Splits `tokens` at the commas that are outside all brackets.
fn branches(tokens: &[String]) -> Vec<&[String]> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => at = end_of_group(tokens, at),
            "," => {
                found.push(&tokens[start..at]);
                (start, at) = (at + 1, at + 1);
            }
            _ => at += 1,
        }
    }
    found.push(&tokens[start..]);
    found.retain(|branch| !branch.is_empty());
    found
}
