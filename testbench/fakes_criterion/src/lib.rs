//! Helpers for benches that imitate Criterion's side of the protocol with a runner, and break the protocol on purpose.
//!
//! Their times are made up: an iteration takes 1000 ns.

#![allow(clippy::missing_panics_doc, reason = "a fake for tests")]

use std::env;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

/// Answer of Criterion 0.8.2 to the greeting of its runner.
pub const GREETING: &[u8; 16] = b"Criterion\x00\x08\x02\x00\x01\x00\x01";
/// Length of the runner's greeting, in bytes.
const RUNNER_GREETING: usize = 18;

/// Returns the port of the runner. Ends the process if there is no runner.
#[must_use]
pub fn port() -> u16 {
    let port = env::var("CARGO_CRITERION_PORT").ok();
    port.and_then(|port| port.parse().ok()).unwrap_or_else(|| {
        eprintln!("this bench has something to say to `cargo perfcheck` only");
        std::process::exit(0)
    })
}

/// Connects to the runner and reads its greeting.
#[must_use]
pub fn connected() -> TcpStream {
    let mut socket = connect();
    socket
        .read_exact(&mut [0; RUNNER_GREETING])
        .unwrap_or_else(|_| std::process::exit(3));
    socket
}

/// Connects to the runner.
#[must_use]
pub fn connect() -> TcpStream {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port())).unwrap_or_else(|_| std::process::exit(3))
}

/// Connects to the runner and answers its greeting as Criterion does.
#[must_use]
pub fn greeted() -> Runner {
    let mut runner = Runner(connected());
    runner.write(GREETING);
    runner
}

/// Reports whether the filter on the command line, such as `^(?:a|b)$`, selects the id. Without a filter, every id is selected.
#[must_use]
pub fn wanted(id: &str) -> bool {
    let filter = env::args().skip(1).find(|word| word.starts_with('^'));
    filter.is_none_or(|filter| {
        let ids = filter.trim_start_matches("^(?:").trim_end_matches(")$");
        ids.split('|').any(|wanted| wanted == id)
    })
}

/// The connection of a bench to its runner.
pub struct Runner(pub TcpStream);

impl Runner {
    /// Sends bytes. Ends the process if nobody reads them.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.0.write_all(bytes).is_err() {
            std::process::exit(3);
        }
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Cbor) {
        let body = message.bytes();
        let length = u32::try_from(body.len()).expect("messages are short");
        self.write(&length.to_be_bytes());
        self.write(&body);
    }

    /// Waits until the runner gives permission to continue. If the runner first asks for the unit of the last values, answers with `size` and `unit`.
    pub fn wait(&mut self, size: f64, unit: &str) {
        loop {
            let mut length = [0; 4];
            if self.0.read_exact(&mut length).is_err() {
                std::process::exit(3);
            }
            let mut body = vec![0; u32::from_be_bytes(length) as usize];
            if self.0.read_exact(&mut body).is_err() {
                std::process::exit(3);
            }
            if body == Cbor::text("Continue").bytes() {
                return;
            }
            let scaled = [
                ("scaled_values", Cbor::Array(vec![Cbor::Float(size)])),
                ("unit", Cbor::text(unit)),
            ];
            self.send(&Cbor::variant("ScaledValues", scaled));
        }
    }

    /// Begins the benchmark if the filter selects it, or else reports it as skipped. Returns whether it has begun.
    pub fn begin(&mut self, id: &str) -> bool {
        self.begin_with(id, Vec::new())
    }

    /// Like [`Self::begin`], for a benchmark that declares a throughput.
    pub fn begin_with(&mut self, id: &str, throughput: Vec<Cbor>) -> bool {
        let wanted = wanted(id);
        let message = if wanted {
            "BeginningBenchmark"
        } else {
            "SkippingBenchmark"
        };
        self.send(&Cbor::variant(message, [("id", Cbor::id(id, throughput))]));
        wanted
    }

    /// Measures the benchmark correctly, if the filter selects it.
    pub fn measure(&mut self, id: &str) {
        if self.begin(id) {
            // The samples are long enough for any clock.
            let iterations = (1..=10).map(|step| f64::from(step * 1000));
            let samples: Vec<_> = iterations.map(|count| (count, count * 1000.0)).collect();
            self.complete(id, &samples);
            self.wait(1.0, "ns");
        }
    }

    /// Reports samples, each with its iterations and its time.
    pub fn complete(&mut self, id: &str, samples: &[(f64, f64)]) {
        let times = samples.iter().map(|(_, time)| *time).collect();
        let iterations: Vec<f64> = samples.iter().map(|(count, _)| *count).collect();
        self.send(&completed(id, &iterations, times));
    }
}

/// Returns the report of a benchmark with a warm-up time of 5 ms and a measurement time of 20 ms.
#[must_use]
pub fn completed(id: &str, iterations: &[f64], times: Vec<f64>) -> Cbor {
    completed_with(id, iterations, times, [5, 20])
}

/// Returns the report of a benchmark. `millis` are its warm-up time and its measurement time.
#[must_use]
pub fn completed_with(id: &str, iterations: &[f64], times: Vec<f64>, millis: [u32; 2]) -> Cbor {
    let floats = |values: Vec<f64>| Cbor::Array(values.into_iter().map(Cbor::Float).collect());
    let duration = |millis: u32| {
        Cbor::map([
            ("secs", Cbor::Whole(millis / 1000)),
            ("nanos", Cbor::Whole(millis % 1000 * 1_000_000)),
        ])
    };
    let [warm_up, measurement] = millis;
    let config = Cbor::map([
        ("confidence_level", Cbor::Float(0.95)),
        ("measurement_time", duration(measurement)),
        ("noise_threshold", Cbor::Float(0.01)),
        ("nresamples", Cbor::Whole(100_000)),
        ("sample_size", Cbor::Whole(10)),
        ("significance_level", Cbor::Float(0.05)),
        ("warm_up_time", duration(warm_up)),
    ]);
    let plot = Cbor::map([("summary_scale", Cbor::text("Linear"))]);
    Cbor::variant(
        "MeasurementComplete",
        [
            ("id", Cbor::id(id, Vec::new())),
            ("iters", floats(iterations.to_vec())),
            ("times", floats(times)),
            ("plot_config", plot),
            ("sampling_method", Cbor::text("Linear")),
            ("benchmark_config", config),
        ],
    )
}

/// The few types of CBOR values that messages need.
pub enum Cbor {
    Null,
    Whole(u32),
    Float(f64),
    Text(String),
    Array(Vec<Cbor>),
    Map(Vec<(Cbor, Cbor)>),
}

impl Cbor {
    /// Creates a text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Creates a map with texts as keys.
    #[must_use]
    pub fn map<const N: usize>(members: [(&str, Cbor); N]) -> Self {
        let members = members.into_iter();
        Self::Map(
            members
                .map(|(name, value)| (Self::text(name), value))
                .collect(),
        )
    }

    /// Creates an enum variant with fields.
    #[must_use]
    pub fn variant<const N: usize>(name: &str, fields: [(&str, Cbor); N]) -> Self {
        Self::map([(name, Self::map(fields))])
    }

    /// Creates the id of a benchmark that is in no group.
    #[must_use]
    pub fn id(id: &str, throughput: Vec<Self>) -> Self {
        Self::map([
            ("group_id", Self::text(id)),
            ("function_id", Self::Null),
            ("value_str", Self::Null),
            ("throughput", Self::Array(throughput)),
        ])
    }

    /// Encodes the value.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // Encodes a major type with a number in four bytes.
        let head = |major: u8, number: usize| {
            let number = u32::try_from(number).expect("messages are short");
            [&[(major << 5) | 0x1a][..], &number.to_be_bytes()].concat()
        };
        match self {
            Self::Null => vec![0xf6],
            Self::Whole(number) => head(0, *number as usize),
            Self::Float(number) => [&[0xfb][..], &number.to_be_bytes()].concat(),
            // Encode short texts as the runner does, because `wait` compares its messages with them.
            Self::Text(text) if text.len() < 24 => {
                let length = u8::try_from(text.len()).expect("less than 24");
                [&[(3 << 5) | length][..], text.as_bytes()].concat()
            }
            Self::Text(text) => [head(3, text.len()), text.clone().into_bytes()].concat(),
            Self::Array(values) => values.iter().fold(head(4, values.len()), |bytes, value| {
                [bytes, value.bytes()].concat()
            }),
            Self::Map(members) => members
                .iter()
                .fold(head(5, members.len()), |bytes, (name, value)| {
                    [bytes, name.bytes(), value.bytes()].concat()
                }),
        }
    }
}
