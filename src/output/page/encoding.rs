//! Compact encodings that keep the data of the page small: of sentences that differ only in their numbers, of positions on a curve, and of rounded
//! numbers.
//!
//! Positions are quantized, because a curve needs no more digits than a screen has pixels. Statistics keep eight digits. Invariant: numbers that
//! readers see in sentences or tables are never quantized.

use serde::{Serialize, Serializer};
use std::collections::HashMap;

use crate::output::scale::Scale;
use perfcheck_analysis::compare::Estimate;

/// Placeholder that stands for a number in a phrase. A text cannot contain this character, because `sanitize::one_line` has escaped all control
/// characters.
const GAP: char = '\u{1}';

/// A sentence: the index of its phrase, and the texts that fill the gaps of the phrase, separated by `|`.
pub(super) type Phrase = (usize, String);

/// A list of distinct phrases, in the order in which they were entered.
///
/// The explanations of hundreds of benchmarks repeat the same sentences with other numbers. So a sentence is stored as a phrase with gaps, which all
/// such sentences share, and the numbers that fill the gaps.
#[derive(Debug, Default)]
pub(super) struct Phrasebook {
    known: HashMap<(&'static str, String), usize>,
    phrases: Vec<(&'static str, String)>,
    sentences: HashMap<(&'static str, String), PhraseCost>,
}

/// What repeating a sentence has cost so far. Some sentences, such as remarks about the run, are repeated with the same numbers for each benchmark,
/// so that they are better stored as a whole.
#[derive(Debug)]
enum PhraseCost {
    /// The sentence is stored as a phrase with gaps. This is the number of bytes that its numbers have taken so far.
    Spent(usize),
    /// The sentence is stored as a phrase without gaps, which has this index. This happens when its repeated numbers have taken as many bytes as the
    /// sentence.
    Whole(usize),
}

impl Phrasebook {
    /// Adds a sentence on the topic `about`. Returns its phrase and the numbers that fill the gaps.
    pub(super) fn insert(&mut self, about: &'static str, sentence: &str) -> Phrase {
        let next = self.phrases.len();
        let entry = (about, sentence.to_owned());
        let spent = match self.sentences.get(&entry) {
            Some(PhraseCost::Whole(index)) => return (*index, String::new()),
            Some(PhraseCost::Spent(spent)) => *spent,
            None => 0,
        };
        if spent >= sentence.len() {
            self.sentences
                .insert(entry.clone(), PhraseCost::Whole(next));
            self.phrases.push(entry);
            return (next, String::new());
        }
        let (phrase, numbers) = split_numbers(sentence);
        let takes = numbers.iter().map(|number| number.len() + 1).sum::<usize>();
        self.sentences
            .insert(entry, PhraseCost::Spent(spent + takes));
        let phrase = (about, phrase);
        let index = *self.known.entry(phrase.clone()).or_insert(next);
        if index == next {
            self.phrases.push(phrase);
        }
        (index, numbers.join("|"))
    }

    /// Returns the phrases, each with its topic.
    pub(super) fn into_phrases(self) -> Vec<(&'static str, String)> {
        self.phrases
    }
}

/// Replaces every number in a sentence by a gap. Returns the phrase and the numbers. A number is a sequence of digits, which may have a fraction.
fn split_numbers(sentence: &str) -> (String, Vec<String>) {
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

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes values as positions on a scale, with `width` digits for each. Values outside the scale, and NaN, are moved to one of its ends.
///
/// The digits are in base 64, the most significant first. `assets/format.js` decodes them.
pub(super) fn encode_positions(
    values: impl IntoIterator<Item = f64>,
    scale: Scale,
    width: u8,
) -> String {
    let most = 64_f64.powi(width.into()) - 1.0;
    let mut text = String::new();
    for value in values {
        let place = (scale.position(value) * most).round().clamp(0.0, most);
        // The conversion turns NaN into 0.
        let place = place as u32;
        for digit in (0..width).rev() {
            let index = place >> (6 * u32::from(digit)) & 63;
            text.push(char::from(DIGITS[index as usize]));
        }
    }
    text
}

/// A number that is written with eight significant digits, which is more than enough for any statistic. Infinity and NaN are written as null.
#[derive(Clone, Copy)]
pub(super) struct Short(pub(super) f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded: f64 = format!("{:.7e}", self.0).parse().unwrap_or(self.0);
        // Write whole numbers without `.0`.
        if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
            return serializer.serialize_i64(rounded as i64);
        }
        serializer.serialize_f64(rounded)
    }
}

/// An estimate with its lower and upper bound. Null stands for a bound that the data do not give.
pub(super) type RoundedEstimate = [Short; 3];

pub(super) fn short_estimate(found: &Estimate) -> RoundedEstimate {
    [found.estimate, found.lower, found.upper].map(Short)
}

/// A list of numbers, or only the first one if the others follow from it.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum FirstOrAll {
    One(Option<usize>),
    Each(Vec<usize>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_gaps(phrase: &str, numbers: &[String]) -> String {
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
        let first = book.insert("time", "It took 12.5 ns in 3 processes.");
        let second = book.insert("time", "It took 7 ns in 10 processes.");
        assert_eq!((first.0, second.0), (0, 0));
        assert_eq!(second.1, "7|10");
        assert_eq!(book.insert("time", "Nothing.").0, 1);
        assert_eq!(book.insert("other", "Nothing.").0, 2);
        let phrases = ["It took \u{1} ns in \u{1} processes.", "Nothing."];
        let found = book.into_phrases();
        assert_eq!(
            found[..2],
            phrases.map(|phrase| ("time", phrase.to_owned()))
        );
    }

    #[test]
    fn a_sentence_that_comes_up_often_is_a_phrase_with_its_numbers() {
        let mut book = Phrasebook::default();
        let first = (0, "7".to_owned());
        // `7` and its separator take two bytes; the sentence takes six.
        for _ in 0..3 {
            assert_eq!(book.insert("run", "Run 7."), first);
        }
        assert_eq!(book.insert("run", "Run 7."), (1, String::new()));
        assert_eq!(book.insert("run", "Run 7."), (1, String::new()));
        assert_eq!(book.insert("run", "Run 8."), (0, "8".to_owned()));
        let phrases = book.into_phrases();
        assert_eq!(phrases[1], ("run", "Run 7.".to_owned()));
        assert_eq!(phrases.len(), 2);
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
            let (phrase, numbers) = split_numbers(sentence);
            assert_eq!(fill_gaps(&phrase, &numbers), sentence);
        }
    }

    #[test]
    fn a_place_takes_as_many_digits_as_were_asked_for() {
        assert_eq!(
            encode_positions([0.0, 1.0, 0.5], Scale::new(0.0, 1.0), 1),
            "A_g"
        );
        assert_eq!(
            encode_positions([0.0, 1.0], Scale::new(0.0, 1.0), 2),
            "AA__"
        );
        // 64 of 4095 is written in base 64 with the digits 1 and 0.
        assert_eq!(encode_positions([64.0], Scale::new(0.0, 4095.0), 2), "BA");
    }

    #[test]
    fn what_lies_outside_is_at_the_edge_and_a_range_without_width_is_no_error() {
        assert_eq!(
            encode_positions([-5.0, 9.0, f64::NAN], Scale::new(0.0, 1.0), 1),
            "A_A"
        );
        assert_eq!(encode_positions([3.0], Scale::new(3.0, 3.0), 2), "AA");
    }

    #[test]
    fn numbers_are_short_and_infinite_ones_absent() {
        for (number, written) in [
            (0.1 + 0.2, "0.3"),
            (12_345_678.4, "12345678"),
            (100.0, "100"),
            (f64::INFINITY, "null"),
            (1.0 / 3.0, "0.33333333"),
        ] {
            assert_eq!(
                serde_json::to_string(&Short(number)).expect("JSON"),
                written
            );
        }
    }
}
