//! Reads each pipe at all times on its own thread, into bounded channels.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::{self, BufRead, BufReader, Read};

use crate::process::start_thread;

use perfcheck_analysis::model::limits::LONGEST_ANSWER_BYTES;

/// Number of pieces that are buffered before the child has to wait.
const WAITING: usize = 256;
/// Number of lines that are buffered. It is small because a line can be as long as a whole answer.
const WAITING_LINES: usize = 4;
/// Largest piece of bench output that is passed on, in bytes.
const PIECE: usize = 64 << 10;

/// A line from the pipe of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum IncomingLine {
    /// A complete line, without its line feed.
    Line(Vec<u8>),
    /// The beginning of a line that is longer than any frame. The rest is dropped.
    TooLong(Vec<u8>),
}

/// Reads lines until end of file, which closes the channel.
pub(super) fn read_lines(pipe: impl Read + Send + 'static) -> io::Result<Receiver<IncomingLine>> {
    spawn(move |sender| {
        let mut pipe = BufReader::with_capacity(PIECE, pipe);
        while let Some(incoming) = next_line(&mut pipe) {
            if sender.send(incoming).is_err() {
                return;
            }
        }
    })
}

fn next_line(pipe: &mut impl BufRead) -> Option<IncomingLine> {
    let mut line = Vec::new();
    let limit = LONGEST_ANSWER_BYTES as u64 + 1;
    pipe.by_ref()
        .take(limit)
        .read_until(b'\n', &mut line)
        .ok()?;
    match line.last() {
        None => None,
        Some(b'\n') => {
            line.pop();
            Some(IncomingLine::Line(line))
        }
        Some(_) if line.len() <= LONGEST_ANSWER_BYTES => Some(IncomingLine::Line(line)),
        Some(_) => {
            line.truncate(PIECE);
            pipe.skip_until(b'\n').ok()?;
            Some(IncomingLine::TooLong(line))
        }
    }
}

/// Reads bytes as they arrive until end of file, which closes the channel.
pub(super) fn read_pieces(pipe: impl Read + Send + 'static) -> io::Result<Receiver<Vec<u8>>> {
    read_pieces_from_all([Box::new(pipe)])
}

/// Reads bytes from several pipes as they arrive. The channel closes at the end of all of them.
pub(super) fn read_pieces_from_all<const N: usize>(
    pipes: [Box<dyn Read + Send>; N],
) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = bounded(WAITING);
    for mut pipe in pipes {
        let sender = sender.clone();
        start_thread(move || {
            let mut piece = vec![0; PIECE];
            while let Ok(length @ 1..) = pipe.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        })?;
    }
    Ok(receiver)
}

fn spawn<T: Send + 'static>(
    read: impl FnOnce(Sender<T>) + Send + 'static,
) -> io::Result<Receiver<T>> {
    let (sender, receiver) = bounded(WAITING_LINES);
    start_thread(move || read(sender))?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_and_the_last_one_needs_no_end() {
        let lines: Vec<IncomingLine> = read_lines(&b"a\n\nbc"[..])
            .expect("a thread")
            .iter()
            .collect();
        let expected = [&b"a"[..], b"", b"bc"].map(|line| IncomingLine::Line(line.to_vec()));
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_line_beyond_every_limit_is_cut_and_the_next_one_is_whole() {
        let endless = std::io::repeat(b'x').take(LONGEST_ANSWER_BYTES as u64 + 10);
        let lines = read_lines(endless.chain(&b"\nnext\n"[..]));
        let mut lines = lines.expect("a thread").into_iter();
        assert!(matches!(lines.next(), Some(IncomingLine::TooLong(line)) if line.len() == PIECE));
        assert_eq!(lines.next(), Some(IncomingLine::Line(b"next".to_vec())));
        assert_eq!(lines.next(), None);
    }
}
