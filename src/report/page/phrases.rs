//! Sentences that differ in their numbers alone are written once.
//!
//! Explanations of hundreds of benchmarks say the same of other numbers. A sentence is kept as a phrase with gaps, and its numbers.

use std::collections::HashMap;

/// Where a number stands. Texts have no control characters: `escape::one_line` has written them out.
const GAP: char = '\u{1}';

/// Phrases, each once, in the order in which they came up.
#[derive(Debug, Default)]
pub(super) struct Phrasebook {
    known: HashMap<(&'static str, String), usize>,
    phrases: Vec<(&'static str, String)>,
}

impl Phrasebook {
    /// The number of the sentence's phrase, and what fills its gaps.
    pub(super) fn enter(&mut self, about: &'static str, sentence: &str) -> (usize, Vec<String>) {
        let (phrase, numbers) = taken_apart(sentence);
        let next = self.phrases.len();
        let phrase = (about, phrase);
        let index = *self.known.entry(phrase.clone()).or_insert(next);
        if index == next {
            self.phrases.push(phrase);
        }
        (index, numbers)
    }

    /// All of them, each with what it is about.
    pub(super) fn into_phrases(self) -> Vec<(&'static str, String)> {
        self.phrases
    }
}

/// Every run of digits, with a fraction where it has one, becomes a gap.
fn taken_apart(sentence: &str) -> (String, Vec<String>) {
    let (mut phrase, mut numbers) = (String::new(), Vec::new());
    let mut rest = sentence;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        phrase.push_str(before);
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
        let number = from[..end].trim_end_matches('.');
        phrase.push(GAP);
        numbers.push(number.to_owned());
        rest = &from[number.len()..];
    }
    phrase.push_str(rest);
    (phrase, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_together(phrase: &str, numbers: &[String]) -> String {
        let mut numbers = numbers.iter();
        phrase
            .chars()
            .map(|c| match c {
                GAP => numbers.next().expect("a number for each gap").clone(),
                other => other.to_string(),
            })
            .collect()
    }

    #[test]
    fn sentences_that_differ_in_numbers_share_a_phrase() {
        let mut book = Phrasebook::default();
        let first = book.enter("time", "It took 12.5 ns in 3 launches.");
        let second = book.enter("time", "It took 7 ns in 10 launches.");
        assert_eq!((first.0, second.0), (0, 0));
        assert_eq!(second.1, ["7", "10"]);
        assert_eq!(book.enter("time", "Nothing.").0, 1);
        assert_eq!(book.enter("other", "Nothing.").0, 2);
        let phrases = ["It took \u{1} ns in \u{1} launches.", "Nothing."];
        let found = book.into_phrases();
        assert_eq!(
            found[..2],
            phrases.map(|phrase| ("time", phrase.to_owned()))
        );
    }

    #[test]
    fn every_sentence_can_be_put_together_again() {
        for sentence in [
            "",
            "7",
            "run 12.",
            "1.2.3, v4...5",
            "größer als 3 µs ٣ 5%",
            "no number",
            "[−1.50 %, +2.5 %]",
        ] {
            let (phrase, numbers) = taken_apart(sentence);
            assert_eq!(put_together(&phrase, &numbers), sentence);
        }
    }
}
