//! Finds the functions of a Rust source file, with the lines of each, and the modules that the file declares.
//!
//! The file is read as a list of tokens. Macros are not expanded: a function in the body of `macro_rules!` counts where it is written, as in debug
//! information. Conditions are not evaluated either, but code that only tests compile is left out.

/// A function that has a body. Closures are part of the function that contains them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFunction {
    /// The name, after the names of the modules, types and functions of the file that contain it: `tree::Node<T>::len` or `<Node as Drop>::drop`.
    pub name: String,
    /// The line with the keyword `fn`, counted from 1.
    pub first_line: u32,
    /// The line of the closing brace.
    pub last_line: u32,
}

/// A module whose code is in another file: `mod name;`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceModule {
    /// The names of the modules of the file that contain the declaration, and at the end its own name.
    pub path: Vec<String>,
    /// The file that the attribute `path` names.
    pub file: Option<String>,
}

/// The functions of a file and the modules that it declares, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScannedSource {
    /// The functions that have a body.
    pub functions: Vec<SourceFunction>,
    /// The modules in other files.
    pub modules: Vec<SourceModule>,
}

/// Scans a source file.
pub fn scan_source(text: &str) -> ScannedSource {
    let tokens = tokenize(text);
    let mut scan = Scan {
        tokens: &tokens,
        found: ScannedSource::default(),
        scopes: Vec::new(),
    };
    scan.read();
    // A function whose closing brace is missing has no lines.
    let mut found = scan.found;
    found.functions.retain(|function| function.last_line > 0);
    found
}

/// The item to which an open brace belongs.
#[derive(Debug, Clone, Default)]
struct OpenBrace {
    /// The name that the code between the braces has in front of its names. `None` for a block.
    name: Option<String>,
    is_module: bool,
    /// The index of the function whose body this is.
    function: Option<usize>,
}

struct Scan<'t> {
    tokens: &'t [Token<'t>],
    found: ScannedSource,
    scopes: Vec<OpenBrace>,
}

impl<'t> Scan<'t> {
    fn read(&mut self) {
        let mut at = 0;
        let mut path_attribute = None;
        // The scope of the next brace.
        let mut opened = OpenBrace::default();
        while at < self.tokens.len() {
            let (word, next) = (self.word(at), self.word(at + 1));
            let mut after = at + 1;
            match word {
                "#" if next == "[" || next == "!" => {
                    let (end, attribute) = self.read_attribute(at);
                    after = end;
                    if is_test_only(&attribute) && next == "[" {
                        after = self.end_of_item(end);
                    } else if let Some(file) = attribute.strip_prefix("path=") {
                        path_attribute = Some(file.trim_matches('"').to_owned());
                    }
                }
                "fn" if is_name(next) || next == "$" => {
                    let name = match next {
                        "$" => format!("${}", self.word(at + 2)),
                        name => name.to_owned(),
                    };
                    after = self.end_of_header(at + 1);
                    if self.word(after) == "{" {
                        opened = self.begin_function(name, self.tokens[at].line);
                    }
                }
                "mod" if is_name(next) => {
                    after = at + 2;
                    if self.word(after) == "{" {
                        opened.name = Some(next.to_owned());
                        opened.is_module = true;
                    } else if self.word(after) == ";" {
                        let file = path_attribute.take();
                        self.add_module(next, file);
                    }
                }
                "trait" if is_name(next) => {
                    after = self.end_of_header(at + 1);
                    opened.name = (self.word(after) == "{").then(|| next.to_owned());
                }
                "impl" if self.begins_item(at) => {
                    after = self.end_of_header(at + 1);
                    let header = &self.tokens[at + 1..after];
                    opened.name = (self.word(after) == "{").then(|| implemented_type(header));
                }
                "{" => self.scopes.push(std::mem::take(&mut opened)),
                "}" => {
                    let closed = self.scopes.pop().unwrap_or_default();
                    if let Some(function) = closed.function {
                        self.found.functions[function].last_line = self.tokens[at].line;
                    }
                }
                _ => {}
            }
            // An attribute belongs to the item that follows it.
            if matches!(word, ";" | "}") {
                path_attribute = None;
            }
            at = after;
        }
    }

    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Adds a function whose body has no end yet, and returns the scope of the body.
    fn begin_function(&mut self, name: String, first_line: u32) -> OpenBrace {
        let outer = self.scopes.iter().filter_map(|scope| scope.name.as_deref());
        let path: Vec<&str> = outer.chain([&*name]).collect();
        self.found.functions.push(SourceFunction {
            name: path.join("::"),
            first_line,
            last_line: 0,
        });
        OpenBrace {
            name: Some(name),
            is_module: false,
            function: Some(self.found.functions.len() - 1),
        }
    }

    fn add_module(&mut self, name: &str, file: Option<String>) {
        let outer = self.scopes.iter().filter(|scope| scope.is_module);
        let outer = outer.filter_map(|scope| scope.name.clone());
        self.found.modules.push(SourceModule {
            path: outer.chain([name.to_owned()]).collect(),
            file,
        });
    }

    /// Reports whether the token can be the first of an item. `impl` is not, if it begins a type.
    fn begins_item(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        matches!(before, "" | "}" | ";" | "{" | "]" | "unsafe" | "default")
    }

    /// Returns the index after the attribute at `at`, and its text without the brackets and without spaces.
    fn read_attribute(&self, at: usize) -> (usize, String) {
        let begin = at + if self.word(at + 1) == "!" { 2 } else { 1 };
        if self.word(begin) != "[" {
            return (begin, String::new());
        }
        let end = self.end_of_group(begin);
        let inner = self.tokens.get(begin + 1..end.saturating_sub(1));
        let words = inner.unwrap_or_default().iter().map(|token| token.text);
        (end, words.collect())
    }

    /// Returns the index after the bracket that closes the one at `begin`.
    fn end_of_group(&self, begin: usize) -> usize {
        let mut depth = 0_usize;
        for at in begin..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.tokens.len()
    }

    /// Returns the index of the brace, semicolon or closing bracket that ends the header of an item.
    fn end_of_header(&self, begin: usize) -> usize {
        let mut at = begin;
        while at < self.tokens.len() {
            at = match self.word(at) {
                "(" | "[" => self.end_of_group(at),
                "{" if self.is_constant(at) => self.end_of_group(at),
                "{" | ";" | "}" | ")" | "]" => return at,
                _ => at + 1,
            };
        }
        at
    }

    /// Reports whether the brace at `at` begins a constant in a generic type, as in `Buffer<T, { N }>`.
    fn is_constant(&self, at: usize) -> bool {
        match self.word(at - 1) {
            "<" => true,
            "," => matches!(self.word(self.end_of_group(at)), ">" | ","),
            _ => false,
        }
    }

    /// Returns the index after the item that begins at `begin`, possibly with further attributes.
    fn end_of_item(&self, begin: usize) -> usize {
        let mut at = begin;
        while self.word(at) == "#" {
            at = self.read_attribute(at).0;
        }
        // A field, a variant or an argument ends with a comma. In an item, a comma can only be part of its header.
        let is_item = ITEMS.contains(&self.word(at));
        while at < self.tokens.len() {
            at = match self.word(at) {
                "(" | "[" => self.end_of_group(at),
                "{" => return self.end_of_group(at),
                ";" => return at + 1,
                "," if !is_item => return at + 1,
                "}" | ")" | "]" => return at,
                _ => at + 1,
            };
        }
        at
    }
}

/// The words with which an item or a statement begins.
const ITEMS: [&str; 17] = [
    "async",
    "const",
    "default",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "pub",
    "static",
    "struct",
    "trait",
    "type",
    "unsafe",
    "use",
];

/// Reports whether only tests compile an item with this attribute, given without spaces.
fn is_test_only(attribute: &str) -> bool {
    matches!(attribute, "test" | "bench" | "cfg(test)")
        || attribute.starts_with("cfg(all(test,")
        || attribute.ends_with("::test")
}

/// Returns the type of an `impl` block from the tokens between `impl` and the brace: `Type`, or `<Type as Trait>`.
fn implemented_type(header: &[Token<'_>]) -> String {
    let mut depth = 0_usize;
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    for (at, token) in header.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| header[before].text);
        let next = header.get(at + 1).map_or("", |token| token.text);
        let is_arrow = token.text == ">" && before == "-";
        match token.text {
            "<" => depth += 1,
            ">" if !is_arrow => {
                depth = depth.saturating_sub(1);
                // The parameters of the block itself are not part of the type.
                if depth == 0 && parts.len() == 1 && parts[0].first() == Some(&"<") {
                    parts[0].clear();
                    continue;
                }
            }
            "where" if depth == 0 => break,
            "for" if depth == 0 && next != "<" => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(token.text);
        }
    }
    match &parts[..] {
        [own] => join_words(own),
        [implemented, .., own] => format!("<{} as {}>", join_words(own), join_words(implemented)),
        [] => String::new(),
    }
}

/// Joins the tokens of a type, with spaces only where Rust's style has them.
fn join_words(words: &[&str]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let is_word = |text: &str| is_name(text) || text.starts_with('\'');
        if before == "," || is_word(before) && is_word(word) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// Reports whether a token is an identifier or a keyword.
fn is_name(text: &str) -> bool {
    text.bytes()
        .next()
        .is_some_and(|first| is_identifier_byte(first) && !first.is_ascii_digit())
}

/// Reports whether a byte can be part of an identifier. Every byte beyond ASCII counts.
fn is_identifier_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// A name, a literal or a single other character.
#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    text: &'t str,
    /// The line on which the token begins, counted from 1.
    line: u32,
}

/// Splits a source into tokens, without comments.
fn tokenize(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let mut end = end_of_token(bytes, at).min(bytes.len());
        // Only a damaged literal can end within a character.
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let piece = &text[at..end];
        let is_comment = piece.starts_with("//") || piece.starts_with("/*");
        if !is_comment && !bytes[at].is_ascii_whitespace() {
            tokens.push(Token { text: piece, line });
        }
        line += u32::try_from(piece.matches('\n').count()).unwrap_or(0);
        at = end;
    }
    tokens
}

/// Returns the index after the token, the comment or the space that begins at `at`. It can exceed the length, if a literal has no end.
fn end_of_token(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    match rest[0] {
        b'/' if rest.starts_with(b"//") => {
            let end = rest.iter().position(|byte| *byte == b'\n');
            at + end.unwrap_or(rest.len())
        }
        b'/' if rest.starts_with(b"/*") => end_of_comment(bytes, at),
        b'"' => end_of_string(bytes, at),
        b'\'' => end_of_quote(bytes, at),
        first if is_identifier_byte(first) => {
            let end = at + length_of_name(rest);
            let is_raw = matches!(&bytes[at..end], b"r" | b"br" | b"cr");
            match (&bytes[at..end], bytes.get(end)) {
                (_, Some(b'"' | b'#')) if is_raw => end_of_raw(bytes, end),
                (b"b" | b"c", Some(b'"')) => end_of_string(bytes, end),
                (b"b", Some(b'\'')) => end_of_quote(bytes, end),
                _ => end,
            }
        }
        _ => at + 1,
    }
}

fn length_of_name(bytes: &[u8]) -> usize {
    let end = bytes.iter().position(|byte| !is_identifier_byte(*byte));
    end.unwrap_or(bytes.len())
}

/// Returns the index after a block comment, in which others may be nested.
fn end_of_comment(bytes: &[u8], begin: usize) -> usize {
    let (mut at, mut depth) = (begin, 0_usize);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// Returns the index after the string whose first quote is at `begin`.
fn end_of_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Returns the index after the raw string or raw identifier whose `r` is before `begin`.
fn end_of_raw(bytes: &[u8], begin: usize) -> usize {
    let hashes = bytes[begin..].iter().take_while(|byte| **byte == b'#');
    let hashes = hashes.count();
    let quote = begin + hashes;
    if bytes.get(quote) != Some(&b'"') {
        // A raw identifier such as `r#type`.
        return quote + length_of_name(&bytes[quote..]);
    }
    let mut at = quote + 1;
    while at < bytes.len() {
        let is_closed = bytes[at] == b'"'
            && bytes[at + 1..]
                .iter()
                .take_while(|byte| **byte == b'#')
                .count()
                >= hashes;
        if is_closed {
            return at + 1 + hashes;
        }
        at += 1;
    }
    at
}

/// Returns the index after the character or lifetime whose quote is at `begin`.
fn end_of_quote(bytes: &[u8], begin: usize) -> usize {
    let rest = &bytes[begin + 1..];
    if rest.first() == Some(&b'\\') {
        let end = rest.iter().skip(2).position(|byte| *byte == b'\'');
        return begin + 1 + end.map_or(rest.len(), |end| end + 3);
    }
    // The bytes of a character beyond ASCII, after the first, have the two upper bits 10.
    let following = rest.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80);
    let length = 1 + following.count();
    if rest.get(length) == Some(&b'\'') {
        return begin + 1 + length + 1;
    }
    begin + 1 + length_of_name(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, u32, u32)> {
        let functions = scan_source(text).functions.into_iter();
        functions
            .map(|one| (one.name, one.first_line, one.last_line))
            .collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, u32, u32)]) {
        let expected: Vec<(String, u32, u32)> = expected
            .iter()
            .map(|(name, first, last)| ((*name).to_owned(), *first, *last))
            .collect();
        assert_eq!(names(text), expected, "{text}");
    }

    #[test]
    fn functions_are_named_after_what_contains_them() {
        let text = "\
fn free(x: [u8; 2]) -> impl Fn(u8) -> u8 { move |y| y }
mod inner {
    impl<T: Into<u8>, const N: usize> Node<T, N> where T: Copy {
        pub(crate) const fn len(&self) -> Buffer<{ N }> where T: Clone, {
            fn nested() {}
            loop {}
        }
    }
    impl<'a> fmt::Display for Node<&'a mut u8> {
        fn fmt(&self) {}
    }
    unsafe impl<F> Call for F where F: for<'a> Fn(&'a u8) -> u8 { fn call() {} }
    trait Shape { fn area(&self) -> f64; fn twice(&self) -> f64 { 2.0 } }
}
extern \"C\" { fn abs(x: i32) -> i32; }
";
        check(
            text,
            &[
                ("free", 1, 1),
                ("inner::Node<T, N>::len", 4, 7),
                ("inner::Node<T, N>::len::nested", 5, 5),
                ("inner::<Node<&'a mut u8> as fmt::Display>::fmt", 10, 10),
                ("inner::<F as Call>::call", 12, 12),
                ("inner::Shape::twice", 13, 13),
            ],
        );
    }

    #[test]
    fn braces_in_literals_and_comments_are_no_braces() {
        let text = "\
fn f<'a>(x: &'a str) { /* { /* { */ */ // {
    let _ = ('{', b'{', '\\'', \"{\\\"\", r#\"{\"# , r\"{\", b\"{\", 'é', '\\u{7b}', r#type, 1.0);
    let _: fn(u8) = g; }
fn g(x: u8) {}
";
        check(text, &[("f", 1, 3), ("g", 4, 4)]);
    }

    #[test]
    fn code_of_tests_is_left_out() {
        let text = "\
#![cfg(test)]
struct S { #[cfg(test)] only: Vec<u8>, other: u8 }
#[cfg(test)] use a::{b, c};
#[cfg(test)]
#[allow(unused)]
mod tests { fn hidden() {} }
#[tokio::test]
async fn hidden<A, B>() {}
#[cfg(all(test, unix))] mod more;
#[cfg(feature = \"test\")] fn shown() {}
macro_rules! make { ($name:ident) => { fn $name() { 1 } }; }
";
        check(text, &[("shown", 10, 10), ("$name", 11, 11)]);
        assert_eq!(scan_source(text).modules, []);
    }

    #[test]
    fn modules_in_other_files_are_listed() {
        let text = "mod a; pub mod b { #[path = \"x/c.rs\"] pub(super) mod c; mod d; } #[cfg(test)] mod e;";
        let module = |path: &[&str], file: Option<&str>| SourceModule {
            path: path.iter().map(ToString::to_string).collect(),
            file: file.map(str::to_owned),
        };
        assert_eq!(
            scan_source(text).modules,
            [
                module(&["a"], None),
                module(&["b", "c"], Some("x/c.rs")),
                module(&["b", "d"], None),
            ]
        );
    }

    #[test]
    fn damaged_sources_are_read_to_the_end() {
        for text in [
            "fn f() {",
            "fn",
            "fn f",
            "impl",
            "impl<",
            "#",
            "#[",
            "\"",
            "'",
            "'\\",
            "r#\"",
            "/*",
            "}}}",
            "mod",
            "impl<T",
            "b'",
            "é'é",
            "fn f() { \"\\é",
            "#[cfg(test)]",
            "trait T",
        ] {
            assert_eq!(names(text), [], "{text}");
        }
    }
}
