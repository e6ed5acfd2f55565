//! Workloads whose times are hard to compare: threads, bodies of milliseconds, memory, and waiting for the system.
//!
//! Each takes `slow::percent()` hundredths of its base cost, as those of `arena_subject` do. The lists below have all of them, by kind, for
//! every harness that measures them.

pub mod memory;
pub mod millis;
pub mod threads;
pub mod waits;

/// What a benchmark calls again and again.
pub type Body = Box<dyn FnMut() -> u64 + Send>;

/// A benchmark: its set-up runs once and outside the time.
pub struct Workload {
    pub name: &'static str,
    pub set_up: fn() -> Body,
}

/// A workload whose type has `set_up` and `run`.
macro_rules! workload {
    ($name:literal, $type:ty $(, $size:literal)?) => {
        Workload {
            name: $name,
            set_up: || {
                let mut work = <$type>::set_up($($size)?);
                Box::new(move || work.run())
            },
        }
    };
}

pub const THREADS: [Workload; 6] = [
    workload!("spawn2", threads::Spawn, 2),
    workload!("spawn4", threads::Spawn, 4),
    workload!("pool", threads::Pool),
    workload!("channels", threads::Channels),
    workload!("rayon", threads::Rayon),
    workload!("tokio", threads::Tokio),
];

pub const MILLIS: [Workload; 4] = [
    workload!("texts1", millis::Texts, 4_000),
    workload!("texts8", millis::Texts, 25_000),
    workload!("blocks8", millis::Blocks, 100),
    workload!("texts50", millis::Texts, 120_000),
];

pub const MEMORY: [Workload; 4] = [
    workload!("graph", memory::Graph),
    workload!("table64", memory::Table),
    workload!("chase16", memory::Chase, 16),
    workload!("chase64", memory::Chase, 64),
];

pub const WAITS: [Workload; 3] = [
    workload!("tokio1", waits::CurrentThread),
    workload!("socket", waits::Socket),
    workload!("file", waits::Blocks),
];

/// The kinds by name.
pub const KINDS: [(&str, &[Workload]); 4] = [
    ("threads", &THREADS),
    ("millis", &MILLIS),
    ("memory", &MEMORY),
    ("waits", &WAITS),
];
