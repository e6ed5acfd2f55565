//! More than one thread a call.

use std::hint::black_box;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use arena_subject::slow::percent;
use arena_subject::workloads::{chain, mix};
use rayon::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// Steps of the chain that take about a microsecond.
const STEPS_OF_A_MICROSECOND: usize = 1_500;
/// What starting, joining and waking threads takes, in hundredths of a call, so that a per cent more is one of the whole call.
const SPAWNING_PERCENT: usize = 25;
const POOL_PERCENT: usize = 35;
const TOKIO_PERCENT: usize = 12;

/// Threads that are started, work and are joined, in each call.
pub struct Spawn {
    threads: usize,
    steps: usize,
}

impl Spawn {
    pub fn set_up(threads: usize) -> Self {
        let steps = 2 * (percent() - SPAWNING_PERCENT) * STEPS_OF_A_MICROSECOND;
        Self { threads, steps }
    }

    pub fn run(&mut self) -> u64 {
        let steps = black_box(self.steps);
        let work = move |seed| thread::spawn(move || chain(steps, seed));
        let workers: Vec<JoinHandle<u64>> = (0..self.threads as u64).map(work).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or(0))
            .fold(0, u64::wrapping_add)
    }
}

/// Two workers that take jobs from a channel each, eight jobs a call.
pub struct Pool {
    steps: usize,
    jobs: Vec<Sender<usize>>,
    done: Receiver<u64>,
}

impl Pool {
    const JOBS: usize = 8;

    pub fn set_up() -> Self {
        let (tell, done) = channel();
        let worker = |_| {
            let (give, jobs) = channel::<usize>();
            let tell = tell.clone();
            thread::spawn(move || {
                for steps in jobs {
                    if tell.send(chain(steps, 1)).is_err() {
                        break;
                    }
                }
            });
            give
        };
        Self {
            steps: (percent() - POOL_PERCENT) * STEPS_OF_A_MICROSECOND / 3,
            jobs: (0..2).map(worker).collect(),
            done,
        }
    }

    pub fn run(&mut self) -> u64 {
        for job in 0..Self::JOBS {
            self.jobs[job % self.jobs.len()]
                .send(black_box(self.steps))
                .expect("the worker lives");
        }
        let done = self.done.iter().take(Self::JOBS);
        done.fold(0, u64::wrapping_add)
    }
}

/// A message that goes to another thread and back, as often as there are hundredths.
pub struct Channels {
    messages: usize,
    there: Sender<u64>,
    back: Receiver<u64>,
}

impl Channels {
    pub fn set_up() -> Self {
        let (there, received) = channel::<u64>();
        let (answer, back) = channel();
        thread::spawn(move || {
            for message in received {
                if answer.send(mix(message)).is_err() {
                    break;
                }
            }
        });
        Self {
            messages: percent(),
            there,
            back,
        }
    }

    pub fn run(&mut self) -> u64 {
        let mut value = 1;
        for _ in 0..self.messages {
            self.there.send(value).expect("the other thread lives");
            value = self.back.recv().expect("the other thread lives");
        }
        value
    }
}

/// A parallel sum over a slice, by rayon's own pool.
pub struct Rayon {
    numbers: Vec<u64>,
}

impl Rayon {
    pub fn set_up() -> Self {
        let numbers = (0..percent() as u64 * 2_000).collect();
        Self { numbers }
    }

    pub fn run(&mut self) -> u64 {
        let numbers = black_box(&self.numbers).par_iter();
        numbers.map(|x| mix(*x)).reduce(|| 0, u64::wrapping_add)
    }
}

/// Twenty tasks on tokio's multi-threaded runtime, two workers.
pub struct Tokio {
    steps: usize,
    runtime: Runtime,
}

impl Tokio {
    pub fn set_up() -> Self {
        Self {
            steps: (percent() - TOKIO_PERCENT) * STEPS_OF_A_MICROSECOND / 9,
            runtime: Builder::new_multi_thread()
                .worker_threads(2)
                .build()
                .expect("a runtime"),
        }
    }

    pub fn run(&mut self) -> u64 {
        let steps = black_box(self.steps);
        self.runtime.block_on(async move {
            let tasks: Vec<_> = (0..20)
                .map(|seed| tokio::spawn(async move { chain(steps, seed) }))
                .collect();
            let mut sum = 0_u64;
            for task in tasks {
                sum = sum.wrapping_add(task.await.unwrap_or(0));
            }
            sum
        })
    }
}
