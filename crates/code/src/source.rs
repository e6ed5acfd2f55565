//! Finds the functions of a Rust source file, with the lines of each, and the modules that the file declares.
//!
//! The file is read as trees of tokens, and only the headers of items are understood. So a file can have syntax that is newer than this scan. Macros are
//! not expanded: a function in the body of `macro_rules!` counts where it is written, as in debug information.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

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

/// Scans a source file. `evaluate` returns the value of the predicate of a `cfg` or `cfg_attr`, such as `all (unix , feature = "std")`, or `None` if it
/// is unknown. Code under a `cfg` that is false is left out, and so are tests. A `cfg_attr` counts only if it is true. A text that cannot be split into
/// tokens has no functions.
pub fn scan_source(text: &str, evaluate: &dyn Fn(&str) -> Option<bool>) -> ScannedSource {
    let mut scan = Scan {
        evaluate,
        found: ScannedSource::default(),
        outer: Vec::new(),
    };
    if let Ok(tokens) = text.parse() {
        scan.read(tokens);
    }
    scan.found
}

/// A module, type, trait or function, whose name comes before the names of what it contains.
struct OuterItem {
    name: String,
    is_module: bool,
}

struct Scan<'p> {
    evaluate: &'p dyn Fn(&str) -> Option<bool>,
    found: ScannedSource,
    /// The items that contain the current tokens, beginning with the outermost.
    outer: Vec<OuterItem>,
}

impl Scan<'_> {
    /// Reads the tokens of a file or between two brackets.
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        let mut file = None;
        while let Some(first) = rest.first() {
            let mut length = 1;
            if let Some(attribute) = Attribute::from_tokens(rest) {
                length = attribute.length;
                let contents = expand_attribute(&attribute.content, self.evaluate);
                if contents.iter().any(|one| leaves_out(one, self.evaluate)) {
                    if attribute.is_inner {
                        return;
                    }
                    length += item_length(&rest[length..]);
                    file = None;
                } else if let Some(named) = contents.iter().find_map(|one| named_file(one)) {
                    file = Some(named);
                }
            } else {
                match first {
                    TokenTree::Ident(keyword) => {
                        length = self.read_item(keyword, &rest[1..], file.as_deref());
                        if keyword == "mod" {
                            file = None;
                        }
                    }
                    TokenTree::Group(group) if !is_pattern(rest) => self.read(group.stream()),
                    _ => {}
                }
            }
            rest = &rest[length..];
        }
    }

    /// Reads the item that begins with `keyword`, or only this word if it begins no item that contains functions. `file` is the file that an attribute
    /// has named for the item. Returns the number of tokens.
    fn read_item(&mut self, keyword: &Ident, rest: &[TokenTree], file: Option<&str>) -> usize {
        let word = keyword.to_string();
        if !matches!(&*word, "fn" | "impl" | "mod" | "trait") {
            return 1;
        }
        let Some(end) = find_end(rest) else { return 1 };
        let name = match &*word {
            "impl" => implemented_type(&rest[..end]),
            _ => item_name(rest),
        };
        let Some(name) = name else { return 1 };
        let is_module = word == "mod";
        if let TokenTree::Group(body) = &rest[end] {
            if word == "fn" {
                self.add_function(&name, keyword, body);
            }
            self.outer.push(OuterItem { name, is_module });
            self.read(body.stream());
            self.outer.pop();
        } else if is_module {
            self.add_module(&name, file);
        }
        // The keyword, the header and what ends it.
        end + 2
    }

    fn add_function(&mut self, name: &str, keyword: &Ident, body: &Group) {
        let outer = self.outer.iter().map(|item| &*item.name);
        let path: Vec<&str> = outer.chain([name]).collect();
        let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        self.found.functions.push(SourceFunction {
            name: path.join("::"),
            first_line: line(keyword.span().start().line),
            last_line: line(body.span_close().start().line),
        });
    }

    fn add_module(&mut self, name: &str, file: Option<&str>) {
        let outer = self.outer.iter().filter(|item| item.is_module);
        let outer = outer.map(|item| &*item.name);
        self.found.modules.push(SourceModule {
            path: outer.chain([name]).map(str::to_owned).collect(),
            file: file.map(str::to_owned),
        });
    }
}

/// An attribute: `#[..]`, or `#![..]` for the item that contains it.
struct Attribute {
    is_inner: bool,
    /// The tokens between the brackets.
    content: Vec<TokenTree>,
    /// The number of its tokens. The brackets and what is between them are one.
    length: usize,
}

impl Attribute {
    /// Returns the attribute with which `tokens` begin, if they do.
    fn from_tokens(tokens: &[TokenTree]) -> Option<Self> {
        let is_inner = is_punctuation(tokens.get(1), '!');
        let length = if is_inner { 3 } else { 2 };
        let TokenTree::Group(group) = tokens.get(length - 1)? else {
            return None;
        };
        let is_attribute =
            is_punctuation(tokens.first(), '#') && group.delimiter() == Delimiter::Bracket;
        is_attribute.then(|| Self {
            is_inner,
            content: group.stream().into_iter().collect(),
            length,
        })
    }
}

/// Returns the contents of the attributes that an attribute with this content stands for: those in a `cfg_attr` if its predicate is true, and otherwise
/// itself.
fn expand_attribute(
    content: &[TokenTree],
    evaluate: &dyn Fn(&str) -> Option<bool>,
) -> Vec<Vec<TokenTree>> {
    let arguments = match content {
        [TokenTree::Ident(name), TokenTree::Group(arguments)] if name == "cfg_attr" => arguments,
        _ => return vec![content.to_vec()],
    };
    let tokens: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let mut parts = tokens.split(|token| is_punctuation(Some(token), ','));
    let predicate = parts.next().unwrap_or_default().iter().cloned();
    if evaluate(&predicate.collect::<TokenStream>().to_string()) != Some(true) {
        return Vec::new();
    }
    parts
        .flat_map(|part| expand_attribute(part, evaluate))
        .collect()
}

/// Reports whether the compiler, or a build without tests, leaves out an item with an attribute of this content.
fn leaves_out(content: &[TokenTree], evaluate: &dyn Fn(&str) -> Option<bool>) -> bool {
    match content {
        [TokenTree::Ident(name), TokenTree::Group(predicate)] if name == "cfg" => {
            evaluate(&predicate.stream().to_string()) == Some(false)
        }
        // `test`, `bench`, or an attribute such as `tokio::test`.
        [path @ .., TokenTree::Ident(name)] => name == "test" || path.is_empty() && name == "bench",
        _ => false,
    }
}

/// Returns the value of the attribute `path`.
fn named_file(content: &[TokenTree]) -> Option<String> {
    match content {
        [TokenTree::Ident(name), _, TokenTree::Literal(file)] if name == "path" => {
            Some(file.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    }
}

fn is_punctuation(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == character)
}

/// Reports whether the first of these tokens is a pattern of `match` or `macro_rules!`, which `=>` follows. A pattern contains no functions.
fn is_pattern(tokens: &[TokenTree]) -> bool {
    is_punctuation(tokens.get(1), '=') && is_punctuation(tokens.get(2), '>')
}

/// Returns the number of tokens of an item, or of another part of the code that can have attributes. Further attributes count, too.
fn item_length(tokens: &[TokenTree]) -> usize {
    let mut begin = 0;
    while let Some(attribute) = Attribute::from_tokens(&tokens[begin..]) {
        begin += attribute.length;
    }
    find_end(&tokens[begin..]).map_or(tokens.len(), |end| begin + end + 1)
}

/// Returns the index of the braces or of the semicolon with which an item ends.
fn find_end(tokens: &[TokenTree]) -> Option<usize> {
    let is_end = |at: &usize| match &tokens[*at] {
        TokenTree::Group(group) => {
            group.delimiter() == Delimiter::Brace && !is_constant(tokens, *at)
        }
        token => is_punctuation(Some(token), ';'),
    };
    (0..tokens.len()).find(is_end)
}

/// Reports whether the braces at `at` are a constant in a generic type, as in `Buffer<T, { N }>`.
fn is_constant(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let next = tokens.get(at + 1);
    is_punctuation(before, '<')
        || is_punctuation(before, ',') && (is_punctuation(next, '>') || is_punctuation(next, ','))
}

/// Returns the name with which the header of an item begins, without the `r#` of a raw identifier, as in the name of a module's file. In a macro it
/// can be a variable such as `$name`.
fn item_name(header: &[TokenTree]) -> Option<String> {
    match header {
        [TokenTree::Ident(name), ..] => {
            let name = name.to_string();
            Some(name.strip_prefix("r#").unwrap_or(&name).to_owned())
        }
        [TokenTree::Punct(dollar), TokenTree::Ident(name), ..] if dollar.as_char() == '$' => {
            Some(format!("${name}"))
        }
        _ => None,
    }
}

/// Returns the type of an `impl` block from the tokens between `impl` and the brace: `Type`, or `<Type as Trait>`.
fn implemented_type(header: &[TokenTree]) -> Option<String> {
    let is_word =
        |at: usize, word: &str| matches!(&header[at], TokenTree::Ident(found) if found == word);
    let mut implemented = None;
    let (mut begin, mut end) = (0, header.len());
    let mut depth = 0_usize;
    for at in 0..header.len() {
        let is_arrow = at > 0 && is_punctuation(header.get(at - 1), '-');
        if is_punctuation(header.get(at), '<') {
            depth += 1;
        } else if is_punctuation(header.get(at), '>') && !is_arrow {
            depth = depth.saturating_sub(1);
            // The parameters of the block itself are not part of the type.
            if depth == 0 && begin == 0 && is_punctuation(header.first(), '<') {
                begin = at + 1;
            }
        } else if depth == 0 && is_word(at, "for") && !is_punctuation(header.get(at + 1), '<') {
            implemented = Some(&header[begin..at]);
            begin = at + 1;
        } else if depth == 0 && is_word(at, "where") {
            end = at;
            break;
        }
    }
    let own = source_text(&header[begin..end])?;
    Some(match implemented {
        Some(implemented) => format!("<{own} as {}>", source_text(implemented)?),
        None => own,
    })
}

/// Returns the text of these tokens in the source, on one line.
fn source_text(tokens: &[TokenTree]) -> Option<String> {
    let (first, last) = (tokens.first()?.span(), tokens.last()?.span());
    let text = first.join(last)?.source_text()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans a text that is compiled without tests, and for another system than Plan 9.
    fn scan(text: &str) -> ScannedSource {
        scan_source(text, &|predicate| match predicate {
            "unix" => Some(true),
            "test" | "all (test , unix)" => Some(false),
            _ => predicate.contains("plan9").then_some(false),
        })
    }

    fn names(text: &str) -> Vec<(String, u32, u32)> {
        let functions = scan(text).functions.into_iter();
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
struct S { #[cfg(test)] only: Vec<u8>, other: u8 }
#[cfg(test)] use a::{b, c};
#[cfg(test)]
#[allow(unused)]
mod tests { fn hidden() {} }
#[tokio::test]
async fn hidden<A, B>() {}
#[bench]
fn hidden() {}
#[cfg(all(
    test,
    unix
))] mod more;
#[cfg(feature = \"test\")] fn shown() {}
";
        check(text, &[("shown", 14, 14)]);
        assert_eq!(scan(text).modules, []);
    }

    #[test]
    fn code_that_is_not_compiled_is_left_out() {
        let text = "\
#[cfg(plan9)] fn hidden() -> Buffer<{ 3 }> { fn hidden() {} }
#[path = \"x.rs\"] #[cfg(plan9)] #[path = \"y.rs\"] pub(crate) mod hidden;
#[cfg(plan9)] impl S { fn hidden() {} }
impl S { #[cfg_attr(unix, cfg(plan9))] fn hidden() {} #[cfg(unix)] #[cfg_attr(loom, test)] fn shown() {} }
fn outer() { #[cfg(plan9)] { fn hidden() {} } fn inner() {} }
mod plan9 { #![cfg(plan9)] fn hidden() {} }
cfg_if! { if #[cfg(plan9)] { fn hidden() {} } else { fn other() {} } }
mod shown;
";
        check(
            text,
            &[
                ("S::shown", 4, 4),
                ("outer", 5, 5),
                ("outer::inner", 5, 5),
                ("other", 7, 7),
            ],
        );
        let modules = scan(text).modules;
        assert_eq!(modules.len(), 1);
        assert_eq!((&*modules[0].path[0], &modules[0].file), ("shown", &None));
        check("//! Docs.\n#![cfg(plan9)]\nfn hidden() {}", &[]);
    }

    #[test]
    fn functions_of_macros_are_named_as_they_are_written() {
        let text = "\
macro_rules! make {
    (fn $name:ident() { $($body:tt)* }) => { fn $name() { $($body)* } };
    ($kind:ty) => { $(#[$meta])* impl Make for $kind { fn make() {} } };
}
make! { fn made() {} }
";
        check(
            text,
            &[
                ("$name", 2, 2),
                ("<$kind as Make>::make", 3, 3),
                ("made", 5, 5),
            ],
        );
    }

    #[test]
    fn modules_in_other_files_are_listed() {
        let text = "\
mod a;
pub mod b { #[path = \"x/c.rs\"] pub(super) mod c; mod r#d; }
#[cfg(test)] mod e;
#[cfg_attr(plan9, path = \"plan9.rs\")] #[cfg_attr(unix, allow(unused), cfg_attr(unix, path = \"unix.rs\"))] mod os;
#[cfg_attr(loom, path = \"loom.rs\")] mod sync;
";
        let module = |path: &[&str], file: Option<&str>| SourceModule {
            path: path.iter().map(ToString::to_string).collect(),
            file: file.map(str::to_owned),
        };
        assert_eq!(
            scan(text).modules,
            [
                module(&["a"], None),
                module(&["b", "c"], Some("x/c.rs")),
                module(&["b", "d"], None),
                module(&["os"], Some("unix.rs")),
                module(&["sync"], None),
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
