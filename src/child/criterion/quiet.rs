//! What a Criterion bench prints, without the warning that our own settings have caused.

use std::io::{self, Read};

/// How the warning begins, after an empty line: that its samples take longer than the time that it was told.
const WARNING: &[u8] = b"\nWarning: Unable to complete ";

/// A pipe without this warning. All else comes as it is; the beginning of a line that may become the warning comes once it is none.
pub(super) struct Quiet<R> {
    pipe: R,
    /// How much of the warning has come; from its whole length on the rest of its line is dropped.
    matched: usize,
    at_line_start: bool,
    /// To be handed out.
    ready: Vec<u8>,
}

impl<R: Read> Quiet<R> {
    pub(super) fn new(pipe: R) -> Self {
        Self {
            pipe,
            matched: 0,
            at_line_start: true,
            ready: Vec::new(),
        }
    }

    fn take(&mut self, byte: u8) {
        if self.matched == WARNING.len() {
            // The end of its line is the end of it.
            if byte == b'\n' {
                self.matched = 0;
                self.at_line_start = true;
            }
            return;
        }
        if byte == WARNING[self.matched] && (self.matched > 0 || self.at_line_start) {
            self.matched += 1;
            return;
        }
        if self.matched > 0 {
            self.give_back();
            // This one may begin it anew.
            return self.take(byte);
        }
        self.at_line_start = byte == b'\n';
        self.ready.push(byte);
    }

    /// What looked like the warning was none.
    fn give_back(&mut self) {
        self.ready.extend(&WARNING[..self.matched]);
        self.at_line_start = self.matched == 1;
        self.matched = 0;
    }
}

impl<R: Read> Read for Quiet<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            let length = self.pipe.read(buffer)?;
            if length == 0 {
                if (1..WARNING.len()).contains(&self.matched) {
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
    fn what_ends_like_its_beginning_comes_whole() {
        check("a\n\n", "a\n\n");
        check("\nWarning: Unable", "\nWarning: Unable");
        check("x\n\n\n\n", "x\n\n\n\n");
        check("", "");
    }
}
