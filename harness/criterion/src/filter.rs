//! The filter that selects benchmarks, and its simple regular expressions: literals, `.`, classes, groups, alternatives, repetitions and anchors.
//!
//! Matching backtracks, which is fast enough for the id of a benchmark. Unsupported syntax is rejected.

#[cfg(not(feature = "regex"))]
use crate::filter::Pattern as Expression;
#[cfg(feature = "regex")]
use regex::Regex as Expression;
use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::str::{Chars, FromStr};

/// A filter that selects the benchmarks of a [`Criterion`](crate::Criterion).
#[derive(Debug, Clone)]
pub enum BenchmarkFilter {
    /// Selects all benchmarks.
    AcceptAll,
    /// Selects benchmarks whose id contains a match of the expression: with the feature `regex` a `regex::Regex`, otherwise a
    /// [`Pattern`](crate::Pattern).
    Regex(Expression),
    /// Selects the benchmark with this id.
    Exact(String),
    /// Selects no benchmark.
    RejectAll,
}

impl BenchmarkFilter {
    /// Creates a filter from the regular expression `text`.
    pub(crate) fn expression(text: &str) -> Result<Self, String> {
        Expression::new(text)
            .map(Self::Regex)
            .map_err(|error| format!("the filter `{text}` is not a regular expression: {error}"))
    }

    /// Reports whether the filter selects the benchmark `id`. `escaped` is the id as listings print it.
    pub(crate) fn accepts(&self, id: &str, escaped: &str) -> bool {
        match self {
            Self::AcceptAll => true,
            Self::Regex(expression) => expression.is_match(id),
            Self::Exact(name) => id == name || escaped == name,
            Self::RejectAll => false,
        }
    }
}

/// A regular expression that does not need the crate `regex`. With the feature `regex`, filters use that crate's type instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    alternatives: Alternatives,
}

/// Alternative sequences, one of which must match.
type Alternatives = Vec<Vec<PatternPiece>>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPiece {
    One(Set),
    Start,
    End,
    /// `\b` if `true`, `\B` if `false`.
    Boundary(bool),
    Group(Alternatives),
    Repeat(Box<PatternPiece>, usize, usize),
}

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Set {
    ranges: Vec<RangeInclusive<char>>,
    is_negated: bool,
}

impl Set {
    fn from_ranges(ranges: &[RangeInclusive<char>], is_negated: bool) -> Self {
        Self {
            ranges: ranges.to_vec(),
            is_negated,
        }
    }

    fn contains(&self, character: char) -> bool {
        let found = self.ranges.iter().any(|range| range.contains(&character));
        found != self.is_negated
    }
}

/// The maximum number of repetitions of a piece. It also limits `*`, `+` and `{n,}`.
const MOST_REPETITIONS: usize = 1000;

const WORD: [RangeInclusive<char>; 4] = ['0'..='9', 'A'..='Z', '_'..='_', 'a'..='z'];
const DIGIT: [RangeInclusive<char>; 1] = ['0'..='9'];
const SPACE: [RangeInclusive<char>; 2] = ['\t'..='\r', ' '..=' '];

impl Pattern {
    /// Parses an expression. The error says which part of the expression is invalid or not supported.
    pub fn new(text: &str) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text.chars().peekable(),
        };
        let alternatives = parser.parse_alternatives()?;
        match parser.rest.next() {
            None => Ok(Self { alternatives }),
            Some(_) => Err("`)` closes nothing".to_owned()),
        }
    }

    /// Reports whether there is a match anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        (0..=text.len()).any(|start| match_any(&self.alternatives, &text, start, &mut |_| true))
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::new(text)
    }
}

/// Reports whether one of the sequences matches at `at`, and `then` accepts the end of the match.
fn match_any(
    alternatives: &Alternatives,
    text: &[char],
    at: usize,
    then: &mut dyn FnMut(usize) -> bool,
) -> bool {
    alternatives
        .iter()
        .any(|pieces| match_all(pieces, text, at, then))
}

fn match_all(
    pieces: &[PatternPiece],
    text: &[char],
    at: usize,
    then: &mut dyn FnMut(usize) -> bool,
) -> bool {
    match pieces.split_first() {
        None => then(at),
        Some((piece, rest)) => {
            match_piece(piece, text, at, &mut |end| match_all(rest, text, end, then))
        }
    }
}

fn match_piece(
    piece: &PatternPiece,
    text: &[char],
    at: usize,
    then: &mut dyn FnMut(usize) -> bool,
) -> bool {
    match piece {
        PatternPiece::One(set) => text.get(at).is_some_and(|c| set.contains(*c)) && then(at + 1),
        PatternPiece::Start => at == 0 && then(at),
        PatternPiece::End => at == text.len() && then(at),
        PatternPiece::Boundary(wanted) => {
            let word = Set::from_ranges(&WORD, false);
            let is_word = |index: Option<usize>| {
                index
                    .and_then(|index| text.get(index))
                    .is_some_and(|c| word.contains(*c))
            };
            let found = is_word(at.checked_sub(1)) != is_word(Some(at));
            found == *wanted && then(at)
        }
        PatternPiece::Group(alternatives) => match_any(alternatives, text, at, then),
        PatternPiece::Repeat(piece, least, most) => {
            match_repeated(piece, *least, *most, text, at, then)
        }
    }
}

fn match_repeated(
    piece: &PatternPiece,
    least: usize,
    most: usize,
    text: &[char],
    at: usize,
    then: &mut dyn FnMut(usize) -> bool,
) -> bool {
    let again = most > 0
        && match_piece(piece, text, at, &mut |end| {
            // An empty repetition could be repeated forever. Stop after it, and consider the minimum number of repetitions reached.
            let left = if end == at { 0 } else { most - 1 };
            match_repeated(
                piece,
                least.saturating_sub(1).min(left),
                left,
                text,
                end,
                then,
            )
        });
    again || (least == 0 && then(at))
}

struct Parser<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Parser<'_> {
    fn parse_alternatives(&mut self) -> Result<Alternatives, String> {
        let mut alternatives = vec![Vec::new()];
        while let Some(&next) = self.rest.peek() {
            match next {
                ')' => break,
                '|' => {
                    self.rest.next();
                    alternatives.push(Vec::new());
                }
                _ => {
                    let piece = self.parse_repeated()?;
                    if let Some(pieces) = alternatives.last_mut() {
                        pieces.push(piece);
                    }
                }
            }
        }
        Ok(alternatives)
    }

    fn parse_repeated(&mut self) -> Result<PatternPiece, String> {
        let mut piece = self.parse_piece()?;
        while let Some(&next) = self.rest.peek() {
            let (least, most) = match next {
                '*' => (0, MOST_REPETITIONS),
                '+' => (1, MOST_REPETITIONS),
                '?' => (0, 1),
                '{' => {
                    self.rest.next();
                    let (least, most) = self.parse_bounds()?;
                    piece = PatternPiece::Repeat(Box::new(piece), least, most);
                    self.skip_laziness();
                    continue;
                }
                _ => break,
            };
            self.rest.next();
            piece = PatternPiece::Repeat(Box::new(piece), least, most);
            self.skip_laziness();
        }
        Ok(piece)
    }

    /// Skips the `?` of a lazy repetition. Laziness affects only the length of a match, not whether there is a match.
    fn skip_laziness(&mut self) {
        self.rest.next_if_eq(&'?');
    }

    /// Parses the part of a repetition after `{`.
    fn parse_bounds(&mut self) -> Result<(usize, usize), String> {
        let inner: String = self.rest.by_ref().take_while(|c| *c != '}').collect();
        let number = |text: &str| {
            text.parse()
                .ok()
                .filter(|count| *count <= MOST_REPETITIONS)
                .ok_or_else(|| format!("`{{{inner}}}` is not a number of repetitions"))
        };
        let (least, most) = match inner.split_once(',') {
            None => (number(&inner)?, number(&inner)?),
            Some((least, "")) => (number(least)?, MOST_REPETITIONS),
            Some((least, most)) => (number(least)?, number(most)?),
        };
        if least > most {
            return Err(format!("`{{{inner}}}`: the first number is the larger one"));
        }
        Ok((least, most))
    }

    fn parse_piece(&mut self) -> Result<PatternPiece, String> {
        let exactly =
            |character| PatternPiece::One(Set::from_ranges(&[character..=character], false));
        Ok(match self.rest.next() {
            Some('.') => PatternPiece::One(Set::from_ranges(&['\n'..='\n'], true)),
            Some('^') => PatternPiece::Start,
            Some('$') => PatternPiece::End,
            Some('[') => PatternPiece::One(self.parse_class()?),
            Some('(') => self.parse_group()?,
            Some('\\') => match self.rest.next() {
                Some('b') => PatternPiece::Boundary(true),
                Some('B') => PatternPiece::Boundary(false),
                escaped => PatternPiece::One(parse_escape(escaped)?),
            },
            Some(character @ ('*' | '+' | '?' | '{')) => {
                return Err(format!("`{character}` repeats nothing"));
            }
            Some(character) => exactly(character),
            None => return Err("it ends too early".to_owned()),
        })
    }

    fn parse_group(&mut self) -> Result<PatternPiece, String> {
        if self.rest.next_if_eq(&'?').is_some() && self.rest.next() != Some(':') {
            return Err("flags, named groups and look-around need the feature `regex`".to_owned());
        }
        let alternatives = self.parse_alternatives()?;
        match self.rest.next() {
            Some(')') => Ok(PatternPiece::Group(alternatives)),
            _ => Err("`(` is never closed".to_owned()),
        }
    }

    /// Parses the part of a class after `[`.
    fn parse_class(&mut self) -> Result<Set, String> {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges = Vec::new();
        loop {
            let first = match self.rest.next() {
                None => return Err("`[` is never closed".to_owned()),
                Some(']') if !ranges.is_empty() => return Ok(Set { ranges, is_negated }),
                Some('[') => return Err("`[` within a class needs the feature `regex`".to_owned()),
                Some('\\') => {
                    let set = parse_escape(self.rest.next())?;
                    match &set.ranges[..] {
                        [only] if only.start() == only.end() && !set.is_negated => *only.start(),
                        _ if set.is_negated => {
                            return Err("such a class needs the feature `regex`".to_owned());
                        }
                        _ => {
                            ranges.extend(set.ranges);
                            continue;
                        }
                    }
                }
                Some(character) => character,
            };
            let mut ahead = self.rest.clone();
            let last = match (ahead.next(), ahead.next()) {
                (Some('-'), Some(last)) if last != ']' => {
                    self.rest = ahead;
                    last
                }
                _ => first,
            };
            if first > last {
                return Err(format!("`{first}-{last}` is not a range"));
            }
            ranges.push(first..=last);
        }
    }
}

/// Parses the character after a backslash.
fn parse_escape(escaped: Option<char>) -> Result<Set, String> {
    let exactly = |character| Ok(Set::from_ranges(&[character..=character], false));
    match escaped {
        Some('d') => Ok(Set::from_ranges(&DIGIT, false)),
        Some('D') => Ok(Set::from_ranges(&DIGIT, true)),
        Some('w') => Ok(Set::from_ranges(&WORD, false)),
        Some('W') => Ok(Set::from_ranges(&WORD, true)),
        Some('s') => Ok(Set::from_ranges(&SPACE, false)),
        Some('S') => Ok(Set::from_ranges(&SPACE, true)),
        Some('n') => exactly('\n'),
        Some('t') => exactly('\t'),
        Some('r') => exactly('\r'),
        Some(character) if !character.is_ascii_alphanumeric() => exactly(character),
        Some(character) => Err(format!("`\\{character}` needs the feature `regex`")),
        None => Err("it ends with a backslash".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_find_what_they_describe() {
        let cases = [
            ("", "anything", true),
            ("sort/", "a sort/b", true),
            ("^sort$", "sort", true),
            ("^sort$", "sorted", false),
            ("sort|hash", "a/hash", true),
            ("^(sort|hash)/1.$", "hash/10", true),
            ("^(sort|hash)/1.$", "hash/1", false),
            ("(?:ab)+c", "ababc", true),
            ("[0-9]{2,3}x", "7x", false),
            ("[0-9]{2,3}x", "1077x", true),
            ("a{2}b", "ab", false),
            ("[^a-c]$", "abc", false),
            (r"[\d_-]z", "-z", true),
            (r"[]]", "]", true),
            (r"\d+\.\d*", "v1.", true),
            (r"\bfib\b", "a fib/10", true),
            (r"\bfib\b", "fibonacci", false),
            (r"\Bo", "fo", true),
            ("(a*)*b", "aaaaaaaaaaaa", false),
            ("(a|b*)*c", "abbac", true),
            ("(a?){3}$", "", true),
            ("größe.*?x", "größe_é_x", true),
            (r"\(f\)", "g(f)", true),
        ];
        for (expression, text, found) in cases {
            let pattern = Pattern::new(expression).unwrap();
            assert_eq!(pattern.is_match(text), found, "{expression} in {text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for expression in [
            "(",
            ")",
            "[",
            "[a",
            "*a",
            "a{x}",
            "a{3,2}",
            "a{2000}",
            "\\",
            "(?i)a",
            r"\p{L}",
            "[z-a]",
            "[[:alpha:]]",
            r"[\W]",
        ] {
            assert!(Pattern::new(expression).is_err(), "{expression}");
        }
    }

    /// Compares the results with those of the crate `regex`, which are correct by definition.
    #[cfg(feature = "regex")]
    #[test]
    fn expressions_mean_what_they_mean_to_the_crate_regex() {
        let expressions = [
            "a|b",
            "^a.*b$",
            "(ab|a)(bc|c)?$",
            "[^b]+c",
            r"\bab?\b",
            "(a*)*c",
            "(a?){2}b",
            "a{1,2}c",
        ];
        let texts = [
            "", "a", "ab", "abc", "aac", "b c", "aabb", "cab", "a-b", "aab c",
        ];
        for expression in expressions {
            let (ours, theirs) = (
                Pattern::new(expression).unwrap(),
                regex::Regex::new(expression).unwrap(),
            );
            for text in texts {
                assert_eq!(
                    ours.is_match(text),
                    theirs.is_match(text),
                    "{expression} in {text}"
                );
            }
        }
    }
}
