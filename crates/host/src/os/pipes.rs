//! The two output pipes of a process, and the bytes that were read from them. Each system waits for output in its own way: see [`OutputPipes::read`].

use std::process::{Child, ChildStderr, ChildStdout};

/// A pipe, and the bytes that were read from it.
pub(super) struct OutputPipe<R> {
    /// The pipe. `None` once it has ended.
    pub(super) pipe: Option<R>,
    pub(super) bytes: Vec<u8>,
}

impl<R> OutputPipe<R> {
    fn new(pipe: Option<R>) -> Self {
        Self {
            pipe,
            bytes: Vec::new(),
        }
    }
}

/// The two output pipes of a process, read by one thread.
pub struct OutputPipes {
    pub(super) stdout: OutputPipe<ChildStdout>,
    pub(super) stderr: OutputPipe<ChildStderr>,
}

impl OutputPipes {
    /// Takes the pipes of a process.
    pub fn from_child(child: &mut Child) -> Self {
        Self {
            stdout: OutputPipe::new(child.stdout.take()),
            stderr: OutputPipe::new(child.stderr.take()),
        }
    }

    /// Reports whether at least one of the pipes can still deliver output.
    pub fn is_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Returns all bytes that were read from stdout and from stderr.
    pub fn into_bytes(self) -> (Vec<u8>, Vec<u8>) {
        (self.stdout.bytes, self.stderr.bytes)
    }
}
