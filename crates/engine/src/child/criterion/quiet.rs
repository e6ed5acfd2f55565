//! What a Criterion bench prints, without what it says about settings and plots that are not its author's but ours.

use std::io::{self, Read};

/// How lines begin that are left out: that samples take longer than the time that it was told, after an empty line, and that it will
/// plot in another way, where it plots nothing.
const LEFT_OUT: [&[u8]; 2] = [
    b"\nWarning: Unable to complete ",
    b"Gnuplot not found, using plotters backend",
];

/// A pipe without these lines. All else comes as it is; the beginning of a line that may become one of them comes once it is none.
pub(in crate::child) struct Quiet<R> {
    pipe: R,
    /// What seems to come, and how much of it has come; from its whole length on the rest of its line is dropped.
    matched: &'static [u8],
    of: &'static [u8],
    at_line_start: bool,
    /// To be handed out.
    ready: Vec<u8>,
}

impl<R: Read> Quiet<R> {
    pub(in crate::child) fn new(pipe: R) -> Self {
        Self {
            pipe,
            matched: &[],
            of: &[],
            at_line_start: true,
            ready: Vec::new(),
        }
    }

    fn take(&mut self, byte: u8) {
        if self.matched.is_empty() {
            self.of = LEFT_OUT
                .into_iter()
                .find(|line| self.at_line_start && line[0] == byte)
                .unwrap_or_default();
        } else if self.matched.len() == self.of.len() {
            // The end of its line is the end of it.
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
            self.give_back();
            // This one may begin another.
            return self.take(byte);
        }
        self.at_line_start = byte == b'\n';
        self.ready.push(byte);
    }

    /// What looked like one of them was none.
    fn give_back(&mut self) {
        self.ready.extend(self.matched);
        self.at_line_start = self.matched == b"\n";
        self.matched = &[];
    }
}

impl<R: Read> Read for Quiet<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            let length = self.pipe.read(buffer)?;
            if length == 0 {
                if (1..self.of.len()).contains(&self.matched.len()) {
                    self.give_back();
                    break;
                }
                return Ok(0);
            }
            for byte in &buffer[..length] {
                self.take(*byte);
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

    /// What comes through, in pieces of every size alike.
    #[track_caller]
    fn check(printed: &str, expected: &str) {
        for size in [1, 2, 7, 1000] {
            let pieces = printed.as_bytes().chunks(size);
            let pipe = pieces.fold(Box::new(io::empty()) as Box<dyn Read>, |before, piece| {
                Box::new(before.chain(piece))
            });
            let mut shown = String::new();
            let read = Quiet::new(pipe).read_to_string(&mut shown);
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
