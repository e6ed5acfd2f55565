//! Encodes and decodes greetings and messages on the socket: CBOR in frames that begin with their length. Converts the values of a custom measurement
//! to the whole numbers that are stored.
//!
//! The input is not trusted, so its size is bounded.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read, Write};
use std::time::Duration;

use perfcheck_analysis::model::{DeclaredThroughput, Metric, Nanos, Sample, Throughput, limits};

/// The runner's greeting: its name, and the version of the cargo-criterion that uses this protocol.
const RUNNER_GREETING: &[u8; 18] = b"cargo-criterion\x01\x01\x00";
/// Beginning of the bench's answer. Criterion's version, the version of the protocol and the number of the format follow.
const BENCH_NAME: &[u8; 9] = b"Criterion";
/// The version of the protocol, and the number that stands for CBOR.
const PROTOCOL: u16 = 1;
const CBOR: u16 = 1;
/// Longest accepted frame. It has room for two numbers of nine bytes for each of a million samples.
const LONGEST_FRAME: u32 = limits::LONGEST_ANSWER_BYTES as u32;
/// Initial buffer size. Most frames are shorter: one with 800 samples fits.
const USUAL_FRAME: u32 = 16 << 10;

/// The version of Criterion that a bench is linked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CriterionVersion(pub u8, pub u8, pub u8);

impl fmt::Display for CriterionVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The reason why nothing more can be read from the socket.
#[derive(Debug, thiserror::Error)]
pub(in crate::child) enum MessageError {
    /// The peer is not Criterion.
    #[error("its greeting on the runner's socket is not Criterion's: {0}")]
    Greeting(String),
    /// The peer is a Criterion with another protocol or format.
    #[error(
        "its Criterion {version} speaks protocol {protocol} in format {format}; this cargo-perfcheck speaks protocol {PROTOCOL} in format {CBOR}"
    )]
    Protocol {
        /// Version of Criterion.
        version: CriterionVersion,
        /// Version of the protocol.
        protocol: u16,
        /// Number of the format.
        format: u16,
    },
    /// The announced length is too large for a message.
    #[error("it announced a message of {0} bytes, which is too long")]
    Length(u32),
    /// The message cannot be decoded.
    #[error("a message of {length} bytes cannot be decoded: {why}")]
    Content {
        /// Length of the message in bytes.
        length: u32,
        /// Message of the decoder.
        why: String,
    },
    /// The socket failed, or was closed within a message.
    #[error("its connection broke in the middle of a message: {0}")]
    Broken(#[from] io::Error),
}

/// Greets a bench, which then continues.
pub(super) fn greet(socket: &mut impl Write) -> io::Result<()> {
    socket.write_all(RUNNER_GREETING)
}

/// Reads the bench's answer to the greeting. Returns `None` if the bench closed the connection without an answer.
pub(super) fn read_greeting(
    socket: &mut impl Read,
) -> Result<Option<CriterionVersion>, MessageError> {
    let mut greeting = [0; 16];
    let length = read_up_to(socket, &mut greeting)?;
    if length == 0 {
        return Ok(None);
    }
    let (name, rest) = greeting.split_at(BENCH_NAME.len());
    if length < greeting.len() || name != BENCH_NAME {
        let quoted = greeting[..length].escape_ascii().to_string();
        return Err(MessageError::Greeting(format!("`{quoted}`")));
    }
    let version = CriterionVersion(rest[0], rest[1], rest[2]);
    let protocol = u16::from_be_bytes([rest[3], rest[4]]);
    let format = u16::from_be_bytes([rest[5], rest[6]]);
    if (protocol, format) != (PROTOCOL, CBOR) {
        return Err(MessageError::Protocol {
            version,
            protocol,
            format,
        });
    }
    Ok(Some(version))
}

/// Reads the next message. Returns `None` if the connection was closed between two messages.
pub(super) fn read_message(socket: &mut impl Read) -> Result<Option<Message>, MessageError> {
    let mut length = [0; 4];
    match read_up_to(socket, &mut length)? {
        0 => return Ok(None),
        4 => {}
        _ => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
    let length = u32::from_be_bytes(length);
    if length > LONGEST_FRAME {
        return Err(MessageError::Length(length));
    }
    // A larger buffer grows with the data that arrives, so a false length cannot exhaust the memory.
    let mut body = Vec::with_capacity(length.min(USUAL_FRAME) as usize);
    socket.take(u64::from(length)).read_to_end(&mut body)?;
    if body.len() < length as usize {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    ciborium::from_reader(&body[..])
        .map(Some)
        .map_err(|error| MessageError::Content {
            length,
            why: error.to_string(),
        })
}

/// Sends an order.
pub(super) fn send(socket: &mut impl Write, order: &RunnerOrder) -> io::Result<()> {
    let mut frame = vec![0; 4];
    ciborium::into_writer(order, &mut frame)
        .map_err(|error| io::Error::other(error.to_string()))?;
    let length = (frame.len() - 4) as u32;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    socket.write_all(&frame)
}

/// Reads until `buffer` is full or the other end has closed, and returns the number of bytes.
fn read_up_to(socket: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match socket.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// An order of the runner, sent while the bench waits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) enum RunnerOrder {
    /// Asks for the unit of these values.
    ScaleForMachines { values: Vec<f64> },
    /// Lets the bench continue.
    Continue,
}

/// A message of the bench.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::child) enum Message {
    BeginningBenchmarkGroup {},
    /// After this message the bench waits for `Continue`.
    FinishedBenchmarkGroup {},
    BeginningBenchmark {
        id: RawId,
    },
    SkippingBenchmark {
        id: RawId,
    },
    Warmup {
        nanos: f64,
    },
    MeasurementStart {
        id: RawId,
        estimate_ns: f64,
        iter_count: u64,
    },
    /// After this message the bench waits for `Continue`.
    MeasurementComplete {
        id: RawId,
        iters: Vec<f64>,
        times: Vec<f64>,
        sampling_method: SamplingMethod,
        benchmark_config: RawConfig,
    },
    FormattedValue {},
    ScaledValues {
        scaled_values: Vec<f64>,
        unit: String,
    },
}

/// The parts of a benchmark's name, and the amount that one iteration processes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::child) struct RawId {
    pub(super) group_id: String,
    pub(super) function_id: Option<String>,
    pub(super) value_str: Option<String>,
    /// The list has at most one entry. Later versions of Criterion may extend the format of the entry.
    #[serde(default)]
    pub(super) throughput: Vec<DeclaredThroughput>,
}

/// How the iteration counts of the samples were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(in crate::child) enum SamplingMethod {
    Linear,
    Flat,
}

/// The settings with which a benchmark was sampled, as Criterion sends them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(in crate::child) struct RawConfig {
    pub(super) measurement_time: RawDuration,
    pub(super) noise_threshold: f64,
    pub(super) sample_size: u64,
    pub(super) warm_up_time: RawDuration,
}

/// A duration as serialized by serde.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(in crate::child) struct RawDuration {
    secs: u64,
    nanos: u32,
}

impl From<RawDuration> for Duration {
    fn from(raw: RawDuration) -> Self {
        Self::from_secs(raw.secs).saturating_add(Self::from_nanos(raw.nanos.into()))
    }
}

impl From<Duration> for RawDuration {
    fn from(duration: Duration) -> Self {
        Self {
            secs: duration.as_secs(),
            nanos: duration.subsec_nanos(),
        }
    }
}

impl RawId {
    /// Returns Criterion's full id: group, function and parameter, as far as present.
    pub(super) fn full_id(&self) -> String {
        let parts = [self.function_id.as_ref(), self.value_str.as_ref()];
        let mut id = self.group_id.clone();
        for part in parts.into_iter().flatten() {
            id.push('/');
            id.push_str(part);
        }
        id
    }

    /// Returns the bytes or elements that one iteration processes. If Criterion declares an amount of another kind, returns a description of it
    /// instead.
    pub(super) fn throughput(&self) -> (Throughput, Option<String>) {
        let Some(declared) = self.throughput.first() else {
            return (Throughput::default(), None);
        };
        declared.throughput().map_or_else(
            || (Throughput::default(), Some(declared.describe())),
            |throughput| (throughput, None),
        )
    }
}

/// 2^53. A float represents every smaller whole number exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Only whole numbers are stored. If the values of a benchmark are not whole, its values and its iterations are both multiplied by this number.
const PARTS: f64 = 1000.0;
/// Values other than times may be stored in a decimal fraction of their unit. The smallest such fraction is 10 to the power of minus this number.
const SMALLEST_PART: u32 = 18;

/// Converts values from the unit in which the bench measures to the unit in which they are stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnitScale {
    /// Stored units per measured unit.
    factor: f64,
    /// The quantity that the stored values measure.
    pub(super) metric: Metric,
}

impl UnitScale {
    /// Creates the scale for a measured unit that is `size` times as large as `unit`. Times are stored in nanoseconds. Other values are stored in
    /// their unit, or in a decimal fraction of it that is small enough to make a measured unit at least 1. Returns `None` if `size` is not a positive
    /// number.
    pub(super) fn from_unit(size: f64, unit: &str) -> Option<Self> {
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let unit = unit.trim();
        let ns = match unit {
            "ns" => Some(1.0),
            "us" | "µs" | "μs" => Some(1e3),
            "ms" => Some(1e6),
            "s" => Some(1e9),
            _ => None,
        };
        if let Some(ns) = ns {
            return Some(Self {
                factor: size * ns,
                metric: Metric::Time,
            });
        }
        let (mut factor, mut parts) = (size, 0);
        while factor < 0.999_999 && parts < SMALLEST_PART {
            factor *= 1e3;
            parts += 3;
        }
        let unit = match parts {
            0 => unit.to_owned(),
            _ => format!("10^-{parts} {unit}"),
        };
        Some(Self {
            factor,
            metric: Metric::Amount { unit },
        })
    }

    /// Creates samples from iteration counts and measured values. Returns `None` if a number is negative or infinite, or if an iteration count is
    /// zero.
    pub(in crate::child) fn samples(&self, iters: &[f64], values: &[f64]) -> Option<Vec<Sample>> {
        let values: Vec<f64> = values.iter().map(|value| value * self.factor).collect();
        let whole_enough =
            |value: &f64| (value - value.round()).abs() <= 1e-9 * value.abs().max(1.0);
        let parts = if self.metric.is_time() || values.iter().all(whole_enough) {
            1.0
        } else {
            PARTS
        };
        let sample = |(iterations, value): (&f64, &f64)| {
            Some(Sample {
                iterations: to_whole(iterations * parts).filter(|count| *count > 0)?,
                elapsed: Nanos(to_whole((value * parts).round())?),
            })
        };
        iters.iter().zip(&values).map(sample).collect()
    }
}

/// Returns the number if it is whole, not negative and below 2^53.
pub(super) fn to_whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(throughput: &[u8]) -> RawId {
        RawId {
            group_id: "g".into(),
            function_id: None,
            value_str: Some("10".into()),
            throughput: vec![ciborium::from_reader(throughput).expect("CBOR")],
        }
    }

    #[test]
    fn a_full_id_has_the_parts_that_are_there() {
        let mut raw = id(b"\xf6");
        assert_eq!(raw.full_id(), "g/10");
        raw.function_id = Some("f".into());
        assert_eq!(raw.full_id(), "g/f/10");
        raw.value_str = None;
        assert_eq!(raw.full_id(), "g/f");
    }

    #[test]
    fn a_throughput_has_numbers_or_words() {
        let bytes = Throughput {
            bytes: Some(7),
            elements: None,
        };
        assert_eq!(id(b"\xa1\x65Bytes\x07").throughput(), (bytes, None));
        let unknown = (Throughput::default(), Some("Frames(3)".into()));
        assert_eq!(id(b"\xa1\x66Frames\x03").throughput(), unknown);
    }

    #[test]
    fn what_is_no_message_is_an_error_and_never_waited_for() {
        let read = |bytes: &[u8]| read_message(&mut &bytes[..]);
        assert!(matches!(read(b""), Ok(None)));
        assert!(matches!(read(b"\0\0"), Err(MessageError::Broken(_))));
        assert!(matches!(
            read(b"\0\0\0\x09abc"),
            Err(MessageError::Broken(_))
        ));
        assert!(matches!(
            read(b"\xff\xff\xff\xff"),
            Err(MessageError::Length(u32::MAX))
        ));
        assert!(matches!(
            read(b"\0\0\0\x03abc"),
            Err(MessageError::Content { length: 3, .. })
        ));
        let greeting = |bytes: &[u8]| read_greeting(&mut &bytes[..]);
        assert!(matches!(greeting(b""), Ok(None)));
        assert!(matches!(
            greeting(b"HTTP/1.1 200 OK\r\n"),
            Err(MessageError::Greeting(_))
        ));
        assert!(matches!(
            greeting(b"Criterion\0\x08\x02\0\x02\0\x01"),
            Err(MessageError::Protocol { protocol: 2, .. })
        ));
        let version = greeting(b"Criterion\0\x08\x02\0\x01\0\x01").expect("Criterion's own");
        assert_eq!(version, Some(CriterionVersion(0, 8, 2)));
    }

    #[test]
    fn floats_of_every_width_are_read() {
        // {"Warmup": {"nanos": 1.5}} with the float in 2, 4 and 8 bytes.
        let floats: [&[u8]; 3] = [
            b"\xf9\x3e\x00",
            b"\xfa\x3f\xc0\x00\x00",
            b"\xfb\x3f\xf8\0\0\0\0\0\0",
        ];
        for float in floats {
            let mut body = b"\xa1\x66Warmup\xa1\x65nanos".to_vec();
            body.extend(float);
            let mut frame = (body.len() as u32).to_be_bytes().to_vec();
            frame.extend(body);
            let message = read_message(&mut &frame[..]).expect("it is one");
            assert_eq!(message, Some(Message::Warmup { nanos: 1.5 }));
        }
    }

    #[test]
    fn a_damaged_message_is_read_or_refused() {
        let mut known = Vec::new();
        for message in [
            r#"{"BeginningBenchmarkGroup":{"group":"g"}}"#,
            r#"{"BeginningBenchmark":{"id":{"group_id":"g","function_id":"f","value_str":"10","throughput":[{"Bytes":10}]}}}"#,
            r#"{"Warmup":{"id":{"group_id":"g","function_id":null,"value_str":null,"throughput":[]},"nanos":3e9}}"#,
            r#"{"MeasurementComplete":{"id":{"group_id":"g","function_id":null,"value_str":null,"throughput":[]},"iters":[1.0,2.0],"times":[10.0,20.0],"plot_config":{"summary_scale":"Linear"},"sampling_method":"Flat","benchmark_config":{"confidence_level":0.95,"measurement_time":{"secs":5,"nanos":0},"noise_threshold":0.01,"nresamples":100000,"sample_size":100,"significance_level":0.05,"warm_up_time":{"secs":3,"nanos":0}}}}"#,
        ] {
            let value: serde_json::Value = serde_json::from_str(message).expect("JSON");
            let mut body = Vec::new();
            ciborium::into_writer(&value, &mut body).expect("CBOR");
            let mut frame = (body.len() as u32).to_be_bytes().to_vec();
            frame.extend(body);
            known.push(frame);
        }
        let greetings = [b"Criterion\x00\x08\x02\x00\x01\x00\x01".to_vec()];
        perfcheck_mutations::attack("Criterion's greeting", &greetings, |bytes| {
            let mut socket = bytes;
            drop(read_greeting(&mut socket));
        });
        perfcheck_mutations::attack("Criterion", &known, |bytes| {
            let mut socket = bytes;
            while let Ok(Some(message)) = read_message(&mut socket) {
                drop(format!("{message:?}"));
            }
        });
    }

    fn taken(scale: &UnitScale, iterations: f64, value: f64) -> Option<(u64, u64)> {
        let samples = scale.samples(&[iterations], &[value])?;
        Some((samples[0].iterations, samples[0].elapsed.0))
    }

    #[test]
    fn times_of_any_unit_are_nanoseconds() {
        let seconds = UnitScale::from_unit(1.0, "s").expect("a size");
        assert_eq!(seconds.metric, Metric::Time);
        assert_eq!(taken(&seconds, 2.0, 0.5), Some((2, 500_000_000)));
        let wall = UnitScale::from_unit(1.0, "ns").expect("a size");
        assert_eq!(taken(&wall, 3.0, 7.0), Some((3, 7)));
    }

    #[test]
    fn amounts_keep_their_unit_or_a_part_of_it_that_loses_nothing() {
        let amount = |unit: &str| Metric::Amount { unit: unit.into() };
        let cycles = UnitScale::from_unit(1.0, "cycles").expect("a size");
        assert_eq!(cycles.metric, amount("cycles"));
        assert_eq!(taken(&cycles, 3.0, 7.0), Some((3, 7)));
        assert_eq!(taken(&cycles, 3.0, 7.25), Some((3_000, 7_250)));
        let joules = UnitScale::from_unit(1e-9, "J").expect("a size");
        assert_eq!(joules.metric, amount("10^-9 J"));
        assert_eq!(taken(&joules, 1.0, 7.0), Some((1, 7)));
        assert_eq!(UnitScale::from_unit(0.0, "J"), None);
        assert_eq!(UnitScale::from_unit(f64::NAN, "J"), None);
    }

    #[test]
    fn numbers_that_no_measurement_has_are_refused() {
        let wall = UnitScale::from_unit(1.0, "ns").expect("a size");
        for (iterations, value) in [
            (1.0, -1.0),
            (1.0, f64::NAN),
            (1.0, f64::INFINITY),
            (0.0, 1.0),
            (1.5, 1.0),
            (-1.0, 1.0),
            (1.0, 1e16),
        ] {
            assert_eq!(
                taken(&wall, iterations, value),
                None,
                "{iterations} {value}"
            );
        }
    }
}
