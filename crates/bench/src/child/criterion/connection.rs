//! The runner's end of the socket: a port on loopback, the single connection of our child, and its messages.
//!
//! Uses two blocking threads: one accepts connections, the other reads. Both end when the connection is dropped. Any process on the machine can
//! connect to a port, so the owner of a connection is checked: only the child may connect.

#![expect(clippy::disallowed_methods, reason = "deadlines")]

use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::{self, BufReader, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::message::{CriterionVersion, Message, MessageError, greet, read_greeting, read_message};
use crate::child::error::ChildError;
use crate::child::process::RunningBench;
use perfcheck_host::os::{NO_DIRECTORY, acknowledge_at_once, owns_connection};
use perfcheck_host::process::start_thread;

/// The environment variables in which Criterion looks for a runner and for its output directory.
const PORT: &str = "CARGO_CRITERION_PORT";
pub(super) const HOME: &str = "CRITERION_HOME";
/// The output directory that is set for Criterion benches. It cannot be created, so a bench that fails to connect to a runner leaves no files behind.
/// A connected bench writes no files anyway.
pub(super) const NOWHERE: &str = NO_DIRECTORY;

/// The name of the request that only asks a bench for its version. Error messages show it, as in "no answer to `report its version`".
const GREET: &str = "report its version";

/// Number of messages that are buffered before the bench has to wait.
const WAITING: usize = 64;

/// Something that happened on the port on which we wait for the bench.
pub(in crate::child) enum PortEvent {
    /// The child has connected and waits for the greeting.
    Connected(TcpStream),
    /// The child has answered the greeting.
    Greeted(CriterionVersion),
    /// The child has sent a message.
    Message(Box<Message>),
    /// The child has sent an invalid message. Nothing more is read from the connection.
    Wrong(MessageError),
    /// The child has connected a second time.
    Again,
    /// The child has closed the connection.
    Closed,
}

/// A port that accepts one child.
pub(in crate::child) struct Connection {
    port: u16,
    incoming: Receiver<PortEvent>,
    admitted: Option<Sender<u32>>,
    closing: Arc<AtomicBool>,
}

impl Connection {
    /// Listens on a port of loopback that the system chooses.
    pub(in crate::child) fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let (sender, incoming) = bounded(WAITING);
        let (admitted, group) = bounded(1);
        let closing = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&closing);
        start_thread(move || {
            // Connections that arrive before the child's process id is known wait in the backlog.
            if let Ok(group) = group.recv() {
                accept(&listener, port, group, &closed, &sender);
            }
        })?;
        Ok(Self {
            port,
            incoming,
            admitted: Some(admitted),
            closing,
        })
    }

    /// Sets the environment of a bench so that it connects to this port and writes no files.
    pub(in crate::child) fn set_environment(&self, command: &mut Command) {
        command.env(PORT, self.port.to_string()).env(HOME, NOWHERE);
    }

    /// Lets processes of this process group connect.
    pub(in crate::child) fn admit(&mut self, group: u32) {
        if let Some(admitted) = self.admitted.take() {
            let _ = admitted.send(group);
        }
    }

    /// Returns the channel of events on the port.
    pub(in crate::child) fn events(&self) -> &Receiver<PortEvent> {
        &self.incoming
    }

    /// Greets the connected bench and returns its version of Criterion.
    pub(in crate::child) fn read_version(
        &self,
        incoming: PortEvent,
        running: &mut RunningBench<'_>,
        timeout: Duration,
    ) -> Result<CriterionVersion, ChildError> {
        if let PortEvent::Connected(mut socket) = incoming
            && greet_bench(&mut socket).is_ok()
        {
            match running.wait_for_answer(&self.incoming, GREET, (Instant::now(), timeout))? {
                Some(PortEvent::Greeted(version)) => return Ok(version),
                Some(PortEvent::Wrong(error)) => {
                    return Err(ChildError::protocol(error.to_string()));
                }
                Some(_) | None => {}
            }
        }
        Err(running.exit_error(GREET))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // The accepting thread wakes up only when a connection arrives, so make one.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn accept(
    listener: &TcpListener,
    port: u16,
    group: u32,
    closing: &AtomicBool,
    sender: &Sender<PortEvent>,
) {
    let mut connected = None::<TcpStream>;
    while let Ok((stream, peer)) = listener.accept() {
        if closing.load(Ordering::SeqCst) {
            break;
        }
        let incoming = match accept_from_group(stream, peer, port, group) {
            None => continue,
            Some(_) if connected.is_some() => PortEvent::Again,
            Some(stream) => {
                let (Ok(to_read), Ok(to_write)) = (stream.try_clone(), stream.try_clone()) else {
                    break;
                };
                connected = Some(stream);
                let sender = sender.clone();
                if sender.send(PortEvent::Connected(to_write)).is_err() {
                    break;
                }
                if start_thread(move || read(to_read, &sender)).is_err() {
                    break;
                }
                continue;
            }
        };
        if sender.send(incoming).is_err() {
            break;
        }
    }
    // End the thread that reads.
    if let Some(stream) = connected {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Returns the stream if its peer belongs to the process group. Otherwise the stream is dropped, which closes the connection.
fn accept_from_group(
    stream: TcpStream,
    peer: SocketAddr,
    port: u16,
    group: u32,
) -> Option<TcpStream> {
    belongs_to(peer, port, group).then_some(stream)
}

/// A socket that acknowledges at once.
///
/// Criterion sends the length of a message and its body in two writes, and the body waits until the length is
/// acknowledged (RFC 896, Nagle's algorithm). With delayed acknowledgements each small message would take 40 ms.
struct QuickAckStream(TcpStream);

impl Read for QuickAckStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.read(buffer)?;
        // Each send resets the option, so set it again for each read.
        acknowledge_at_once(&self.0);
        Ok(length)
    }
}

fn read(stream: TcpStream, sender: &Sender<PortEvent>) {
    let mut stream = BufReader::new(QuickAckStream(stream));
    let first = match read_greeting(&mut stream) {
        Ok(Some(version)) => PortEvent::Greeted(version),
        Ok(None) => PortEvent::Closed,
        Err(error) => PortEvent::Wrong(error),
    };
    let mut goes_on = matches!(first, PortEvent::Greeted(_));
    if sender.send(first).is_err() {
        return;
    }
    while goes_on {
        let incoming = match read_message(&mut stream) {
            Ok(Some(message)) => PortEvent::Message(Box::new(message)),
            Ok(None) => PortEvent::Closed,
            Err(error) => PortEvent::Wrong(error),
        };
        goes_on = matches!(incoming, PortEvent::Message(_));
        if sender.send(incoming).is_err() {
            return;
        }
    }
}

/// Greets the bench at the other end, which then continues.
pub(super) fn greet_bench(socket: &mut TcpStream) -> io::Result<()> {
    // Send each order at once. The system would otherwise hold it back to send it together with later ones.
    socket.set_nodelay(true)?;
    greet(socket)
}

/// Returns true if the peer of a connection from `peer` to our `port` belongs to the process group `group`. Also returns true if the system cannot
/// tell.
pub(super) fn belongs_to(peer: SocketAddr, port: u16, group: u32) -> bool {
    if !peer.ip().is_loopback() {
        return false;
    }
    owns_connection(group, peer, port).unwrap_or(true)
}
