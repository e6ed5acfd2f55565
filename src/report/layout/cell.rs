//! Cells: text in its colours, or a number with its text for people.

use crate::escape;
use crate::report::theme::{self, Ink};
use crate::report::units::{self, NO_BREAK};
use perfcheck_analysis::model::Verdict;

/// A cell of a table: raw text, piece by piece in its colour.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    pieces: Vec<(Ink, String)>,
    /// A word that stands behind the text, below the marks of other rows.
    mark: Option<(Ink, String)>,
    value: Value,
}

/// What a cell is for machines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Value {
    /// Its text.
    #[default]
    Words,
    /// This number.
    Number(f64),
    /// There is none.
    Nothing,
}

impl Cell {
    /// Text in one colour.
    pub(crate) fn inked(ink: Ink, text: impl Into<String>) -> Self {
        Self::of_pieces(vec![(ink, text.into())])
    }

    /// Text that matters less.
    pub(crate) fn faint(text: impl Into<String>) -> Self {
        Self::inked(Ink::Faint, text)
    }

    /// Text in the colour of a verdict.
    pub(crate) fn in_colour_of(verdict: Verdict, text: impl Into<String>) -> Self {
        Self::inked(Ink::Verdict(verdict), text)
    }

    /// Text of several colours.
    pub(crate) fn of_pieces(pieces: Vec<(Ink, String)>) -> Self {
        Self {
            pieces,
            ..Self::default()
        }
    }

    /// A number, and how people read it.
    pub(crate) fn number(value: f64, text: impl Into<String>) -> Self {
        Self {
            value: Value::Number(value),
            ..Self::from(text.into())
        }
    }

    /// The cell of a value that there is not: a dash for people, empty for machines.
    pub(crate) fn nothing() -> Self {
        Self {
            value: Value::Nothing,
            ..Self::from("-")
        }
    }

    /// Puts a mark behind the text.
    pub(crate) fn with_mark(self, ink: Ink, mark: impl Into<String>) -> Self {
        Self {
            mark: Some((ink, mark.into())),
            ..self
        }
    }

    /// Whether it says nothing at all.
    pub(super) fn is_empty(&self) -> bool {
        self.mark.is_none() && self.pieces.iter().all(|(_, text)| text.is_empty())
    }

    /// The columns that its text takes on one line, without its mark.
    pub(super) fn width(&self) -> usize {
        let pieces = self.pieces.iter();
        pieces
            .map(|(_, text)| units::width(&escape::one_line(text)))
            .sum()
    }

    /// The columns that its mark takes.
    pub(super) fn mark_width(&self) -> usize {
        let mark = self.mark.as_ref();
        mark.map_or(0, |(_, text)| units::width(&escape::one_line(text)))
    }

    /// The columns of its longest word.
    pub(super) fn longest_word(&self) -> usize {
        let plain = escape::one_line(&self.plain());
        plain.split(' ').map(units::width).max().unwrap_or(0)
    }

    /// Its text for machines that know no colours, as it was given; a mark without the blanks that align it.
    pub(super) fn raw(&self) -> String {
        match &self.mark {
            Some((_, mark)) => format!("{} {}", self.plain(), mark.replace(' ', "")),
            None => self.plain(),
        }
    }

    /// Its number; `None` where it is words or nothing.
    pub(super) fn exact(&self) -> Option<f64> {
        match self.value {
            Value::Number(value) => Some(value),
            Value::Words | Value::Nothing => None,
        }
    }

    /// Whether it stands for a value that there is not.
    pub(super) fn is_nothing(&self) -> bool {
        self.value == Value::Nothing
    }

    fn plain(&self) -> String {
        let pieces = self.pieces.iter();
        pieces.map(|(_, text)| text.as_str()).collect()
    }

    /// Its text on one line.
    pub(super) fn shown(&self) -> String {
        let pieces = self.pieces.iter();
        pieces
            .map(|(ink, text)| theme::inked(*ink, &escape::one_line(text)))
            .collect()
    }

    /// Its mark.
    pub(super) fn shown_mark(&self) -> String {
        let mark = self.mark.as_ref();
        mark.map_or_else(String::new, |(ink, text)| {
            theme::inked(*ink, &escape::one_line(text))
        })
    }

    /// Its text on one line of at most so many columns, shortened in its middle.
    pub(super) fn shortened(&self, columns: usize) -> String {
        if self.width() <= columns {
            return self.shown();
        }
        let ink = self.pieces.first().map_or(Ink::Plain, |(ink, _)| *ink);
        let plain = escape::one_line(&self.plain());
        theme::inked(ink, &units::in_the_middle(&plain, columns))
    }

    /// Its text in lines of so many columns, broken between words. A longer word is shortened to `longest_word`.
    pub(super) fn folded(&self, columns: usize, longest_word: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in self.paragraphs(longest_word) {
            lines.extend(units::fitted(&paragraph, columns));
        }
        for line in &mut lines {
            *line = line.replace(NO_BREAK, " ");
        }
        lines
    }

    /// Its paragraphs. Each word has its colour by itself: a style that runs over a line end is cut off by some pagers.
    fn paragraphs(&self, longest_word: usize) -> Vec<String> {
        let mut paragraphs = vec![String::new()];
        for (ink, text) in &self.pieces {
            for (line, text) in escape::terminal_lines(text).split('\n').enumerate() {
                if line > 0 {
                    paragraphs.push(String::new());
                }
                let words = text.split(' ');
                let words =
                    words.map(|word| theme::inked(*ink, &units::in_the_middle(word, longest_word)));
                let words: Vec<String> = words.collect();
                if let Some(paragraph) = paragraphs.last_mut() {
                    paragraph.push_str(&words.join(" "));
                }
            }
        }
        paragraphs
    }
}

/// Makes a cell of what is said of each of `things`, column by column.
pub(crate) fn cells_of<T>(things: &[T]) -> impl Fn(&dyn Fn(&T) -> String) -> Vec<Cell> {
    move |said| things.iter().map(|thing| said(thing).into()).collect()
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::inked(Ink::Plain, text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
