//! Code that asks the system and waits: a runtime of one thread, a socket, a file.

use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};

use arena_subject::slow::percent;
use arena_subject::workloads::mix;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// Two tasks of a runtime of one thread send one another messages.
pub struct CurrentThread {
    messages: usize,
    runtime: Runtime,
}

impl CurrentThread {
    pub fn set_up() -> Self {
        Self {
            messages: percent() * 5,
            runtime: Builder::new_current_thread().build().expect("a runtime"),
        }
    }

    pub fn run(&mut self) -> u64 {
        let messages = black_box(self.messages);
        self.runtime.block_on(async move {
            let (there, mut received) = mpsc::channel::<u64>(1);
            let (answer, mut back) = mpsc::channel::<u64>(1);
            let other = tokio::spawn(async move {
                while let Some(message) = received.recv().await {
                    if answer.send(mix(message)).await.is_err() {
                        break;
                    }
                }
            });
            let mut value = 1;
            for _ in 0..messages {
                there.send(value).await.expect("the other task lives");
                value = back.recv().await.expect("the other task lives");
            }
            drop(there);
            other.await.expect("the other task ends");
            value
        })
    }
}

/// Messages of 512 bytes through a TCP connection on loopback, written and read by one thread.
pub struct Socket {
    messages: usize,
    near: TcpStream,
    far: TcpStream,
}

impl Socket {
    pub fn set_up() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("its address"));
        let near = near.expect("a connection");
        let (far, _) = listener.accept().expect("a connection");
        near.set_nodelay(true).expect("an option");
        Self {
            messages: percent(),
            near,
            far,
        }
    }

    pub fn run(&mut self) -> u64 {
        let mut message = [7_u8; 512];
        for _ in 0..black_box(self.messages) {
            self.near.write_all(&message).expect("it is open");
            self.far.read_exact(&mut message).expect("it is open");
        }
        u64::from(message[0])
    }
}

/// Blocks of 4 KB from all over a file of 4 MB.
pub struct Blocks {
    blocks: usize,
    file: File,
}

impl Blocks {
    const COUNT: u64 = 1_024;

    pub fn set_up() -> Self {
        let path = std::env::temp_dir().join(format!("arena-hard-{}", std::process::id()));
        std::fs::write(&path, vec![7; 4_096 * Self::COUNT as usize]).expect("a file");
        let file = File::open(&path).expect("the file");
        // It lives as long as it is open.
        std::fs::remove_file(&path).expect("the file");
        Self {
            blocks: percent(),
            file,
        }
    }

    pub fn run(&mut self) -> u64 {
        let mut block = [0; 4_096];
        for i in 0..black_box(self.blocks) as u64 {
            let at = mix(i) % Self::COUNT * 4_096;
            self.file.seek(SeekFrom::Start(at)).expect("a place");
            self.file.read_exact(&mut block).expect("a block");
        }
        u64::from(block[0])
    }
}
