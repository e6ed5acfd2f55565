//! The cells of tables. A cell has colored text, or a number with its text for people.

use crate::output::terminal;
use crate::output::terminal::TextRole;
use crate::output::units::{self, NO_BREAK};
use crate::sanitize;
use perfcheck_analysis::model::Verdict;

/// A cell of a table: pieces of raw text, each with its color.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    pieces: Vec<ColoredText>,
    /// A mark after the text, such as `*` or `(+8.00%)`. The marks of a column are aligned with each other.
    mark: Option<ColoredText>,
    value: Value,
}

/// Raw text in one color.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColoredText {
    ink: TextRole,
    text: String,
}

impl ColoredText {
    pub(crate) fn new(ink: TextRole, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { ink, text }
    }

    /// Creates text in the usual color.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(TextRole::Plain, text)
    }

    /// Returns the text on one line, with color codes.
    fn colored(&self) -> String {
        terminal::colorize(self.ink, &sanitize::one_line(&self.text))
    }

    /// Returns the width on one line, in columns.
    fn width(&self) -> usize {
        units::width(&sanitize::one_line(&self.text))
    }
}

/// The value of a cell in machine-readable formats, such as CSV.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Value {
    /// The text of the cell.
    #[default]
    Words,
    /// A number, which is written without rounding.
    Number(f64),
    /// A missing value, which is written as an empty cell.
    Nothing,
}

impl Cell {
    /// Creates a cell with text in one color.
    pub(crate) fn with_ink(ink: TextRole, text: impl Into<String>) -> Self {
        Self::from_pieces([ColoredText::new(ink, text)])
    }

    /// Creates a cell with less important text.
    pub(crate) fn faint(text: impl Into<String>) -> Self {
        Self::with_ink(TextRole::Faint, text)
    }

    /// Creates a cell with text in the color of a verdict.
    pub(crate) fn colored_by_verdict(verdict: Verdict, text: impl Into<String>) -> Self {
        Self::with_ink(TextRole::Verdict(verdict), text)
    }

    /// Creates a cell with text in several colors.
    pub(crate) fn from_pieces(pieces: impl IntoIterator<Item = ColoredText>) -> Self {
        Self {
            pieces: pieces.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Creates a cell with a number, and the text that shows it to people.
    pub(crate) fn number(value: f64, text: impl Into<String>) -> Self {
        Self {
            value: Value::Number(value),
            ..Self::from(text.into())
        }
    }

    /// Creates a cell for a missing value. It is a dash for people, and empty in machine-readable formats.
    pub(crate) fn missing() -> Self {
        Self {
            value: Value::Nothing,
            ..Self::from("-")
        }
    }

    /// Adds a mark after the text.
    pub(crate) fn with_mark(self, ink: TextRole, mark: impl Into<String>) -> Self {
        Self {
            mark: Some(ColoredText::new(ink, mark)),
            ..self
        }
    }

    /// Returns true if the cell has neither text nor a mark.
    pub(super) fn is_empty(&self) -> bool {
        self.mark.is_none() && self.pieces.iter().all(|piece| piece.text.is_empty())
    }

    /// Returns the width of the text on one line, without the mark, in columns.
    pub(super) fn width(&self) -> usize {
        self.pieces.iter().map(ColoredText::width).sum()
    }

    /// Returns the width of the mark, in columns.
    pub(super) fn mark_width(&self) -> usize {
        self.mark.as_ref().map_or(0, ColoredText::width)
    }

    /// Returns the width of the longest word, in columns.
    pub(super) fn longest_word(&self) -> usize {
        let plain = sanitize::one_line(&self.plain());
        plain.split(' ').map(units::width).max().unwrap_or(0)
    }

    /// Returns the raw text of the cell with its mark. It has no colors or escapes, and none of the blanks that align the mark.
    pub(super) fn raw(&self) -> String {
        match &self.mark {
            Some(mark) => format!("{} {}", self.plain(), mark.text.replace(' ', "")),
            None => self.plain(),
        }
    }

    /// Returns the number in the cell. Returns `None` if the cell has text or no value.
    pub(super) fn exact(&self) -> Option<f64> {
        match self.value {
            Value::Number(value) => Some(value),
            Value::Words | Value::Nothing => None,
        }
    }

    /// Returns true if the cell stands for a missing value.
    pub(super) fn is_missing(&self) -> bool {
        self.value == Value::Nothing
    }

    fn plain(&self) -> String {
        let pieces = self.pieces.iter();
        pieces.map(|piece| piece.text.as_str()).collect()
    }

    /// Returns the text on one line, with color codes but without the mark.
    pub(super) fn colored_text(&self) -> String {
        self.pieces.iter().map(ColoredText::colored).collect()
    }

    /// Returns the mark with color codes. It is empty if there is no mark.
    pub(super) fn colored_mark(&self) -> String {
        self.mark
            .as_ref()
            .map_or_else(String::new, ColoredText::colored)
    }

    /// Returns the text on one line of at most `columns`. A longer text is shortened in its middle.
    pub(super) fn shortened(&self, columns: usize) -> String {
        if self.width() <= columns {
            return self.colored_text();
        }
        let ink = self
            .pieces
            .first()
            .map_or(TextRole::Plain, |piece| piece.ink);
        let plain = sanitize::one_line(&self.plain());
        terminal::colorize(ink, &units::shorten_middle(&plain, columns))
    }

    /// Breaks the text between words into lines of `columns`. Words that are wider than `longest_word` are shortened.
    pub(super) fn folded(&self, columns: usize, longest_word: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in self.paragraphs(longest_word) {
            lines.extend(units::wrap_if_needed(&paragraph, columns));
        }
        for line in &mut lines {
            *line = line.replace(NO_BREAK, " ");
        }
        lines
    }

    /// Returns the colored text, split at its line ends. Each word is colored separately, because some pagers end a color at a line end.
    fn paragraphs(&self, longest_word: usize) -> Vec<String> {
        let mut paragraphs = vec![String::new()];
        for ColoredText { ink, text } in &self.pieces {
            for (line, text) in sanitize::terminal_lines(text).split('\n').enumerate() {
                if line > 0 {
                    paragraphs.push(String::new());
                }
                let words = text.split(' ');
                let words = words.map(|word| {
                    terminal::colorize(*ink, &units::shorten_middle(word, longest_word))
                });
                let words: Vec<String> = words.collect();
                if let Some(paragraph) = paragraphs.last_mut() {
                    paragraph.push_str(&words.join(" "));
                }
            }
        }
        paragraphs
    }
}

/// Returns a function that creates a column of cells, one for each of `things`. The argument of that function is a closure that returns the text for
/// a thing.
pub(crate) fn cell_builder<T>(things: &[T]) -> impl Fn(&dyn Fn(&T) -> String) -> Vec<Cell> {
    move |text_of| things.iter().map(|thing| text_of(thing).into()).collect()
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::with_ink(TextRole::Plain, text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
