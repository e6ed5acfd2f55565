//! Filters the output of a Criterion bench: removes messages about settings and plots that come from our command line
//! rather than from the author.

use std::io::{self, Read};

/// Beginnings of the removed lines: the warning, after an empty line, that samples take longer than requested, and
/// the choice of another plotting backend, although no plots are made.
const LEFT_OUT: [&[u8]; 2] = [
    b"\nWarning: Unable to complete ",
    b"Gnuplot not found, using plotters backend",
];

/// A reader without these lines. All other output passes unchanged; the beginning of a possible match is held back
/// until it is known not to match.
pub(in crate::child) struct OutputFilter<R> {
    pipe: R,
    /// The matched part of the line in `of`. Once all of `of` is matched, the rest of the line is dropped.
    matched: &'static [u8],
    of: &'static [u8],
    at_line_start: bool,
    /// Bytes to return next.
    ready: Vec<u8>,
}

impl<R: Read> OutputFilter<R> {
    pub(in crate::child) fn new(pipe: R) -> Self {
        Self {
            pipe,
            matched: &[],
            of: &[],
            at_line_start: true,
            ready: Vec::new(),
        }
    }

    fn push_byte(&mut self, byte: u8) {
        if self.matched.is_empty() {
            self.of = LEFT_OUT
                .into_iter()
                .find(|line| self.at_line_start && line[0] == byte)
                .unwrap_or_default();
        } else if self.matched.len() == self.of.len() {
            // A line feed ends the dropped line.
            if byte == b'\n' {
                self.matched = &[];
                self.at_line_start = true;
            }
            return;
        }
        if self.of.get(self.matched.len()) == Some(&byte) {
            self.matched = &self.of[..=self.matched.len()];
            return;
        }
        if !self.matched.is_empty() {
            self.release_match();
            // This byte may begin another match.
            return self.push_byte(byte);
        }
        self.at_line_start = byte == b'\n';
        self.ready.push(byte);
    }

    /// Passes on the held bytes, which did not match after all.
    fn release_match(&mut self) {
        self.ready.extend(self.matched);
        self.at_line_start = self.matched == b"\n";
        self.matched = &[];
    }
}

impl<R: Read> Read for OutputFilter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            let length = self.pipe.read(buffer)?;
            if length == 0 {
                if (1..self.of.len()).contains(&self.matched.len()) {
                    self.release_match();
                    break;
                }
                return Ok(0);
            }
            for byte in &buffer[..length] {
                self.push_byte(*byte);
            }
        }
        let length = self.ready.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.ready[..length]);
        self.ready.drain(..length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the output for pieces of several sizes.
    #[track_caller]
    fn check(printed: &str, expected: &str) {
        for size in [1, 2, 7, 1000] {
            let pieces = printed.as_bytes().chunks(size);
            let pipe = pieces.fold(Box::new(io::empty()) as Box<dyn Read>, |before, piece| {
                Box::new(before.chain(piece))
            });
            let mut shown = String::new();
            let read = OutputFilter::new(pipe).read_to_string(&mut shown);
            read.expect("text");
            assert_eq!(shown, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn the_warning_is_dropped_with_its_empty_line_and_nothing_else() {
        let warning = "\nWarning: Unable to complete 100 samples in 20.0ms. You may wish to increase target time to 1.0s.\n";
        check(warning, "");
        check(&format!("a\n{warning}b\n"), "a\nb\n");
        check(&format!("{warning}{warning}end"), "end");
        let others = "one\n\n\nWarning: Unable to read the corpus\nWarning: Unable to complete \n";
        check(others, others);
    }

    #[test]
    fn what_would_draw_plots_is_not_said_where_none_are_drawn() {
        let line = "Gnuplot not found, using plotters backend\n";
        check(line, "");
        check(&format!("{line}a {line}\n{line}b"), &format!("a {line}\nb"));
        let warning = "\nWarning: Unable to complete 10 samples\n";
        check(&format!("{line}{warning}{line}"), "");
        let others = "Gnuplot not found or not usable, using plotters backend\nGnuplot\nG";
        check(others, others);
    }

    #[test]
    fn what_ends_like_its_beginning_comes_whole() {
        check("a\n\n", "a\n\n");
        check("\nWarning: Unable", "\nWarning: Unable");
        check("x\n\n\n\n", "x\n\n\n\n");
        check("", "");
    }
}
