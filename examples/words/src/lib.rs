//! Counts the words of a text.

use std::collections::HashMap;

/// How often each word occurs in `text`. Words are what white space separates.
pub fn count(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_counted_wherever_they_stand() {
        let counts = super::count("to be  or\nnot to be");
        assert_eq!((counts["to"], counts["or"], counts.len()), (2, 1, 4));
    }
}
