//! Text for the log of a GitHub Actions job, which also carries commands to the runner.
//!
//! The runner obeys `::name` at the beginning of a line, even after blanks, and `##[name]` anywhere in a line. It takes `\n` and `\r` for line ends
//! (actions/runner, `ActionCommand.cs`). Azure Pipelines obeys `##vso[` and `TeamCity` obeys `##teamcity[`, anywhere in a line. [`CommandGuard`]
//! breaks all of these commands, except those that [`LogCommands`] lets through. It does so byte by byte on stdout and on stderr. The runner's own
//! way to stop commands (`::stop-commands::`) is of no use: the runner reads the two streams independently, so the end of a stop on one stream might
//! come after a command on the other.

use std::cell::Cell;
use std::io::{self, Write};

use super::terminal;

/// Escapes the message of a command. It may have several lines.
pub fn data(text: &str) -> String {
    let shown = break_older_sign(&terminal::lines(text));
    shown.replace('%', "%25").replace('\n', "%0A")
}

/// Escapes the value of a property of a command.
pub fn property(text: &str) -> String {
    let shown = break_older_sign(&terminal::one_line(text)).replace('%', "%25");
    shown.replace(':', "%3A").replace(',', "%2C")
}

/// Breaks `##[` and `##name[`. Other readers of a log may obey these even if they do not know `::`.
fn break_older_sign(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for c in text.chars() {
        let before = harmless.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        if c == '[' && before.ends_with("##") {
            harmless.push('\\');
        }
        harmless.push(c);
    }
    harmless
}

/// The state that the streams of the process share: whether the reader of their output obeys commands, and whether the current text is our own
/// command.
#[derive(Debug, Default)]
pub struct LogCommands {
    are_obeyed: bool,
    is_log: bool,
    are_ours: Cell<bool>,
    streams: Cell<u32>,
    /// Number of the stream that wrote last.
    last: Cell<u32>,
}

impl LogCommands {
    /// Makes the state for an output. `are_obeyed` means that the output is the log of a GitHub Actions job, `is_log` that it is the log of
    /// another CI system, for which we write no commands.
    pub fn new(are_obeyed: bool, is_log: bool) -> Self {
        Self {
            are_obeyed,
            is_log: is_log || are_obeyed,
            are_ours: Cell::new(false),
            streams: Cell::new(0),
            last: Cell::new(0),
        }
    }

    /// Reports whether the output is the log of a GitHub Actions job.
    pub fn are_obeyed(&self) -> bool {
        self.are_obeyed
    }

    /// Calls `write` and lets its output through unchanged, because the output is our own command.
    pub fn let_through<T>(&self, write: impl FnOnce() -> T) -> T {
        let before = self.are_ours.replace(true);
        let written = write();
        self.are_ours.set(before);
        written
    }
}

/// A stream whose output may appear in the log of a job. It inserts a backslash into commands, so that the runner does not obey them.
#[derive(Debug)]
pub struct CommandGuard<'a, W> {
    writer: W,
    commands: &'a LogCommands,
    number: u32,
    place: StreamPosition,
    /// Whether the stream carries the output of other programs.
    of_others: bool,
    /// Number of `#` directly before the next byte, or before the current word; at most 2.
    hashes: u8,
}

/// The position of a stream within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamPosition {
    /// The line has only blanks so far.
    Start,
    /// The line has only blanks so far, and a color code has begun. The inner writer may strip the code, so a command could begin after it.
    Code(Code),
    /// The line has only blanks and one colon so far.
    Colon,
    /// The line has only blanks and one colon so far, or another stream has ended it, so that a new line begins here. Which of the two is true cannot
    /// be known: it depends on whether both streams lead to the same place.
    ColonOrStart,
    /// No command can begin here, because the line has other text already.
    Middle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Escape,
    Parameters,
}

impl<'a, W: Write> CommandGuard<'a, W> {
    /// Makes a stream that writes to `writer`.
    pub fn new(writer: W, commands: &'a LogCommands) -> Self {
        let number = commands.streams.get() + 1;
        commands.streams.set(number);
        Self {
            writer,
            commands,
            number,
            place: StreamPosition::Start,
            of_others: false,
            hashes: 0,
        }
    }

    /// Makes a stream for the output of other programs. Nothing in it is a command of the tool, and lines that begin with `::` are broken in every
    /// log.
    pub fn foreign(writer: W, commands: &'a LogCommands) -> Self {
        Self {
            of_others: true,
            ..Self::new(writer, commands)
        }
    }

    fn is_guarded(&self) -> bool {
        self.commands.is_log && (self.of_others || !self.commands.are_ours.get())
    }

    /// Advances the position by a byte. Returns true if the byte would complete the sign of a command.
    fn completes_sign(&mut self, byte: u8) -> bool {
        let hashes = self.hashes;
        self.hashes = match byte {
            b'#' => (hashes + 1).min(2),
            b'a'..=b'z' | b'A'..=b'Z' if hashes == 2 => 2,
            _ => 0,
        };
        let is_behind_colon = matches!(
            self.place,
            StreamPosition::Colon | StreamPosition::ColonOrStart
        );
        let has_colons = self.of_others || self.commands.are_obeyed;
        let is_second_colon = has_colons && is_behind_colon && byte == b':';
        self.place = match (self.place, byte) {
            (_, b'\n' | b'\r')
            // Count bytes of non-ASCII characters as blanks, because Unicode has blanks among them.
            | (StreamPosition::Start | StreamPosition::ColonOrStart, b' ' | b'\t' | 0x0b | 0x0c | 0x80..)
            | (StreamPosition::Code(Code::Parameters), b'@'..=b'~') => StreamPosition::Start,
            (StreamPosition::Start | StreamPosition::ColonOrStart, 0x1b) => StreamPosition::Code(Code::Escape),
            (StreamPosition::Code(Code::Escape), b'[') | (StreamPosition::Code(Code::Parameters), b'0'..=b'?') => {
                StreamPosition::Code(Code::Parameters)
            }
            (StreamPosition::Start | StreamPosition::Code(_), b':') => StreamPosition::Colon,
            _ => StreamPosition::Middle,
        };
        is_second_colon || (hashes == 2 && byte == b'[')
    }
}

impl<W: Write> Write for CommandGuard<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_guarded() {
            // A command of the tool ends with a line end, so the next byte is at the beginning of a line.
            self.place = StreamPosition::Start;
            self.hashes = 0;
            return self.writer.write(bytes);
        }
        if self.commands.last.replace(self.number) != self.number {
            // If both streams lead to the same place, the other stream may have ended this line. If they lead to different places, it has not.
            self.place = match self.place {
                StreamPosition::Colon | StreamPosition::ColonOrStart => {
                    StreamPosition::ColonOrStart
                }
                StreamPosition::Start | StreamPosition::Code(_) | StreamPosition::Middle => {
                    StreamPosition::Start
                }
            };
        }
        let mut harmless = Vec::with_capacity(bytes.len() + 8);
        for byte in bytes {
            if self.completes_sign(*byte) {
                harmless.push(b'\\');
            }
            harmless.push(*byte);
        }
        self.writer.write_all(&harmless)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(pieces: &[&str]) -> String {
        let commands = LogCommands::new(true, true);
        let mut written = Vec::new();
        let mut guarded = CommandGuard::new(&mut written, &commands);
        for piece in pieces {
            guarded.write_all(piece.as_bytes()).expect("memory");
        }
        String::from_utf8(written).expect("text")
    }

    #[test]
    fn no_line_begins_with_a_command() {
        for (text, harmless) in [
            ("::error::x\n", ":\\:error::x\n"),
            (
                "a\n \t::set-output name=a::b",
                "a\n \t:\\:set-output name=a::b",
            ),
            ("a\r::error::x", "a\r:\\:error::x"),
            ("\u{a0}\u{3000}::error::x", "\u{a0}\u{3000}:\\:error::x"),
            ("\u{1b}[1;31m::error::x", "\u{1b}[1;31m:\\:error::x"),
        ] {
            assert_eq!(guarded(&[text]), harmless, "{text:?}");
        }
    }

    #[test]
    fn the_older_sign_is_broken_anywhere() {
        assert_eq!(guarded(&["a ##[error]b"]), "a ##\\[error]b");
        assert_eq!(guarded(&["###[error]b"]), "###\\[error]b");
    }

    #[test]
    fn commands_of_every_system_are_broken_in_every_log() {
        let printed =
            "##vso[task.complete result=Succeeded]\na ##teamcity[x]\n##[error]\n## v[0]\n";
        let broken =
            "##vso\\[task.complete result=Succeeded]\na ##teamcity\\[x]\n##\\[error]\n## v[0]\n";
        for (is_log, shown) in [(true, broken), (false, printed)] {
            let commands = LogCommands::new(false, is_log);
            let mut written = Vec::new();
            let mut stream = CommandGuard::foreign(&mut written, &commands);
            assert!(stream.write_all(printed.as_bytes()).is_ok());
            assert_eq!(String::from_utf8(written).expect("text"), shown);
            // Our output contains foreign names. A Rust path is a command only on GitHub.
            let mut ours = Vec::new();
            let mut stream = CommandGuard::new(&mut ours, &commands);
            let printed = format!("{printed}::std::vec\n");
            assert!(stream.write_all(printed.as_bytes()).is_ok());
            assert_eq!(
                String::from_utf8(ours).expect("text"),
                format!("{shown}::std::vec\n")
            );
        }
    }

    #[test]
    fn it_does_not_matter_how_a_sign_comes_in_pieces() {
        assert_eq!(guarded(&[" ", ":", ":", "error::"]), " :\\:error::");
        assert_eq!(guarded(&["#", "#", "[x]"]), "##\\[x]");
    }

    #[test]
    fn paths_and_headings_stay_as_they_are() {
        for text in [
            "std::vec::Vec\n",
            "a: b\n",
            ": b\n",
            "## [x]\n",
            "#[inline]\n",
        ] {
            assert_eq!(guarded(&[text]), text);
        }
    }

    #[test]
    fn a_line_that_another_stream_has_ended_is_no_shelter() {
        let commands = LogCommands::new(true, true);
        let log = std::cell::RefCell::new(Vec::new());
        let mut bench = CommandGuard::new(Shared(&log), &commands);
        let mut ours = CommandGuard::new(Shared(&log), &commands);
        assert!(bench.write_all(b"half a line").is_ok());
        assert!(ours.write_all(b"\nMeasuring\n").is_ok());
        assert!(bench.write_all(b"::error::x\n").is_ok());
        let text = String::from_utf8(log.into_inner()).expect("text");
        assert_eq!(text, "half a line\nMeasuring\n:\\:error::x\n");
    }

    #[test]
    fn a_line_that_another_stream_comes_between_is_no_shelter() {
        for (first, second, harmless) in [
            (":", ":error::x", ":\\:error::x"),
            (":", " ::error::x", ": :\\:error::x"),
            (" :", "\u{1b}[1m::error::x", " :\u{1b}[1m:\\:error::x"),
        ] {
            let commands = LogCommands::new(true, true);
            let (mut log, mut elsewhere) = (Vec::new(), Vec::new());
            let mut bench = CommandGuard::new(&mut log, &commands);
            let mut ours = CommandGuard::new(&mut elsewhere, &commands);
            assert!(bench.write_all(first.as_bytes()).is_ok());
            assert!(ours.write_all(b"{}\n").is_ok());
            assert!(bench.write_all(second.as_bytes()).is_ok());
            let text = String::from_utf8(log).expect("text");
            assert_eq!(text, harmless);
        }
    }

    struct Shared<'a>(&'a std::cell::RefCell<Vec<u8>>);

    impl Write for Shared<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn our_own_commands_pass_and_elsewhere_everything_does() {
        let commands = LogCommands::new(true, true);
        let mut written = Vec::new();
        let mut stream = CommandGuard::new(&mut written, &commands);
        let passed = commands.let_through(|| stream.write_all(b"::error::a\n"));
        assert!(passed.is_ok() && stream.write_all(b"::error::b\n").is_ok());
        assert_eq!(written, b"::error::a\n:\\:error::b\n");

        let commands = LogCommands::new(false, false);
        let mut written = Vec::new();
        let mut stream = CommandGuard::new(&mut written, &commands);
        assert!(stream.write_all(b"::error::b\n").is_ok());
        assert_eq!(written, b"::error::b\n");
    }

    #[test]
    fn a_message_keeps_its_lines_and_a_property_stays_one() {
        assert_eq!(data("50 %\n::error::\r##[x"), "50 %25%0A::error::\\r##\\[x");
        assert_eq!(property("a ##vso[task.x"), "a ##vso\\[task.x");
        assert_eq!(property("a:b,c=d%\n"), "a%3Ab%2Cc=d%25\\n");
    }
}
