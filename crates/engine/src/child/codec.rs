//! Encodes requests as lines of words and decodes frames, one JSON object a line (docs/internals/src/protocol.md, sections 2 to
//! 4).

use serde::Deserialize;
use std::fmt;

use super::answers::{AllocationsAnswer, LatenciesAnswer};
use perfcheck_analysis::model::{AuthorSettings, Metric, Nanos, Sample, Throughput, limits};

/// The version of docs/internals/src/protocol.md that this crate implements.
pub const PROTOCOL_VERSION: u64 = 1;

/// How the parent can drive a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Any benchmark, any number of times, in any order.
    Addressable,
    /// In program order: each benchmark is run or skipped.
    Sequential,
}

/// The kinds of measurement that a benchmark supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// Samples of the time.
    Time,
    /// Samples, and the latencies of single operations.
    Latency,
}

impl RequestKind {
    /// Parses the word; unknown kinds give samples.
    pub(super) fn parse(word: Option<&str>) -> Self {
        match word {
            Some("latency") => Self::Latency,
            _ => Self::Time,
        }
    }
}

/// The first frame of a child.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// Version of the protocol that the child chose.
    pub protocol: u64,
    /// Name of the harness.
    pub harness: String,
    /// Version of the harness.
    pub version: String,
    /// Capabilities of the harness, unknown words included.
    pub capabilities: Vec<String>,
    /// Smallest step of the clock.
    pub quantum_ns: Nanos,
}

impl Hello {
    /// Reports whether the harness counts allocations.
    pub fn counts_allocations(&self) -> bool {
        self.has("allocations")
    }

    /// Returns a message if a value exceeds its limit.
    pub(super) fn find_excess(&self) -> Option<String> {
        let names = [("harness", &self.harness), ("version", &self.version)];
        let long = names.into_iter().find_map(|(what, text)| {
            let why = limits::check_name(text).err()?;
            Some(format!("its {what} {why}"))
        });
        let step = self.quantum_ns.0;
        let large = (step >= limits::BEYOND_NUMBERS)
            .then(|| format!("`quantum_ns` is {step} and not below 2^63"));
        long.or(large)
    }

    fn has(&self, word: &str) -> bool {
        self.capabilities
            .iter()
            .any(|capability| capability == word)
    }

    /// Returns the capability to use: addressable if available.
    pub fn capability(&self) -> Option<Capability> {
        if self.has("addressable") {
            Some(Capability::Addressable)
        } else if self.has("sequential") {
            Some(Capability::Sequential)
        } else {
            None
        }
    }
}

/// A benchmark as announced by its child.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Announcement {
    /// Id within the executable.
    pub id: String,
    /// The author's version string.
    #[serde(default)]
    pub version: Option<String>,
    /// Amount that one iteration processes.
    #[serde(default, deserialize_with = "null_is_default")]
    pub throughput: Throughput,
    /// Meaning of the samples: times by default.
    #[serde(default, deserialize_with = "null_is_default")]
    pub metric: Metric,
    /// Settings that the author made in code.
    #[serde(default, deserialize_with = "null_is_default")]
    pub settings: AuthorSettings,
}

fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Every frame that a child can send.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum Frame {
    Hello(Hello),
    Benchmark(Announcement),
    Broken {
        message: String,
    },
    Listed {
        count: usize,
    },
    Started {
        id: String,
        #[serde(default, deserialize_with = "null_is_default")]
        throughput: Throughput,
        #[serde(default)]
        kind: Option<String>,
    },
    WarmedUp {
        iterations: u64,
        elapsed_ns: Nanos,
        #[serde(default)]
        total_ns: Option<Nanos>,
    },
    Samples {
        iterations: Vec<u64>,
        elapsed_ns: Vec<Nanos>,
    },
    Counted(AllocationsAnswer),
    Latencies(LatenciesAnswer),
    Finished {
        id: String,
    },
    Skipped {
        id: String,
        reason: String,
    },
    Error {
        /// `None` if the request was rejected and nothing changed.
        #[serde(default)]
        id: Option<String>,
        message: String,
        #[serde(default)]
        fatal: bool,
    },
    End,
    Bye,
}

impl Frame {
    pub(super) fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Returns a message if a value exceeds its limit. Announcements are not checked here: a bad one must not keep
    /// the other benchmarks from being measured.
    pub(super) fn find_excess(&self) -> Option<String> {
        let numbers = match self {
            Self::Hello(hello) => return hello.find_excess(),
            Self::Started { throughput, .. } => [throughput.bytes, throughput.elements],
            Self::WarmedUp {
                iterations,
                elapsed_ns,
                total_ns,
            } => [
                Some(*iterations),
                total_ns.map(|t| t.0).max(Some(elapsed_ns.0)),
            ],
            _ => return None,
        };
        let large = numbers.into_iter().flatten().max();
        let large = large.filter(|number| *number >= limits::BEYOND_NUMBERS);
        large.map(|number| format!("{number} is not below 2^63"))
    }

    /// Reports whether `line`, which is not a valid frame, was meant to be a hello.
    pub(super) fn resembles_hello(line: &[u8]) -> bool {
        serde_json::from_slice::<serde_json::Value>(line)
            .is_ok_and(|value| value.get("type").is_some_and(|kind| kind == "hello"))
    }
}

/// The benchmarks of an addressable child.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Its benchmarks, in program order.
    pub benchmarks: Vec<Announcement>,
    /// Errors of the parts of the bench that could not list their benchmarks.
    pub broken: Vec<String>,
}

/// The result of a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUp {
    /// Iterations and time of the body, over all rounds.
    pub body: Sample,
    /// Elapsed time, including set-up and drops.
    pub total: Nanos,
}

impl WarmUp {
    /// Returns the elapsed time per iteration in nanoseconds, including set-up and drops.
    pub fn total_per_iteration(self) -> f64 {
        self.total.as_f64() / self.body.iterations as f64
    }
}

/// A number of samples that have the same number of iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSpec {
    /// Iterations of each sample.
    pub iterations: u64,
    /// Number of samples.
    pub count: u64,
}

impl fmt::Display for SampleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "{}", self.iterations),
            count => write!(f, "{}*{count}", self.iterations),
        }
    }
}

/// Every request that the parent can send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChildRequest<'a> {
    List,
    Start(&'a str),
    Begin,
    Run,
    Skip,
    Next,
    WarmUp(Nanos),
    Sample(&'a [SampleSpec]),
    /// Largest number of iterations.
    Count(u64),
    /// Largest number of values of the reservoir.
    Latencies(u64),
    Finish,
    Bye,
}

impl ChildRequest<'_> {
    /// Reports whether the request concerns the benchmark that has been started.
    pub(super) fn needs_started_benchmark(&self) -> bool {
        matches!(
            self,
            Self::WarmUp(_) | Self::Sample(_) | Self::Count(_) | Self::Latencies(_) | Self::Finish
        )
    }
}

impl fmt::Display for ChildRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("list"),
            Self::Start(id) => write!(f, "start {}", escape(id)),
            Self::Begin => f.write_str("begin"),
            Self::Run => f.write_str("run"),
            Self::Skip => f.write_str("skip"),
            Self::Next => f.write_str("next"),
            Self::WarmUp(time) => write!(f, "warm-up {}", time.0),
            Self::Sample(specs) => {
                f.write_str("sample")?;
                specs.iter().try_for_each(|spec| write!(f, " {spec}"))
            }
            Self::Count(iterations) => write!(f, "count {iterations}"),
            Self::Latencies(values) => write!(f, "latencies {values}"),
            Self::Finish => f.write_str("finish"),
            Self::Bye => f.write_str("bye"),
        }
    }
}

fn escape(id: &str) -> String {
    id.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_line_ends_stays_on_one_line_and_can_be_told_apart() {
        assert_eq!(ChildRequest::Start("a b").to_string(), "start a b");
        assert_eq!(ChildRequest::Start("a\nb\r").to_string(), "start a\\nb\\r");
        assert_eq!(ChildRequest::Start("a\\nb").to_string(), "start a\\\\nb");
    }

    #[test]
    fn a_schedule_is_written_in_its_short_form() {
        let ramp = (1..=3).map(|step| SampleSpec {
            iterations: 10 * step,
            count: 1,
        });
        let flat = SampleSpec {
            iterations: 30,
            count: 400,
        };
        let schedule: Vec<SampleSpec> = ramp.chain([flat]).collect();
        assert_eq!(
            ChildRequest::Sample(&schedule).to_string(),
            "sample 10 20 30 30*400"
        );
    }

    #[test]
    fn what_lies_beside_the_samples_is_asked_for_with_a_number() {
        assert_eq!(ChildRequest::Count(16).to_string(), "count 16");
        assert_eq!(ChildRequest::Latencies(0).to_string(), "latencies 0");
    }

    #[test]
    fn a_benchmark_measures_times_unless_it_names_a_unit() {
        let metric = |member: &str| {
            let line = format!(r#"{{"type":"benchmark","id":"a"{member}}}"#);
            match Frame::parse(line.as_bytes()) {
                Ok(Frame::Benchmark(announcement)) => announcement.metric,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(metric(""), Metric::Time);
        assert_eq!(metric(r#","metric":null"#), Metric::Time);
        let steps = Metric::Amount {
            unit: "steps".to_owned(),
        };
        assert_eq!(
            metric(r#","metric":{"kind":"amount","unit":"steps"}"#),
            steps
        );
    }

    #[test]
    fn a_hello_that_lacks_a_member_is_told_from_bench_output() {
        for line in [r#"{"type":"hello"}"#, r#"{"type":"hello","protocol":"1"}"#] {
            assert!(Frame::parse(line.as_bytes()).is_err());
            assert!(Frame::resembles_hello(line.as_bytes()));
        }
        for line in ["hello", "[1]", r#"{"type":"bye"}"#, r#"{"hello":1}"#, ""] {
            assert!(!Frame::resembles_hello(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn members_that_are_not_known_are_ignored_and_nulls_are_defaults() {
        let line = br#"{"type":"benchmark","id":"x","version":null,"throughput":null,"settings":{"samples":5,"new":1},"more":[]}"#;
        let Ok(Frame::Benchmark(announcement)) = Frame::parse(line) else {
            panic!("a benchmark frame");
        };
        assert_eq!(announcement.settings.samples, Some(5));
        assert_eq!(announcement.throughput, Throughput::default());
    }

    #[test]
    fn times_that_are_negative_or_no_numbers_are_no_frames() {
        for elapsed in ["-1", "NaN", "1.5", "1e400", "\"7\""] {
            let line = format!(r#"{{"type":"samples","iterations":[1],"elapsed_ns":[{elapsed}]}}"#);
            assert!(Frame::parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn a_damaged_frame_is_read_or_refused() {
        let frames = [
            r#"{"type":"hello","protocol":1,"harness":"perfcheck 0.1.0","clock_step_ns":20,"quantum_ns":20,"features":["a"],"capabilities":["addressable","allocations"]}"#,
            r#"{"type":"benchmark","id":"sort/10","version":"2","throughput":{"bytes":10,"elements":null},"metric":{"kind":"amount","unit":"B"},"settings":{"launches":3,"noise_threshold":0.02}}"#,
            r#"{"type":"listed","count":3}"#,
            r#"{"type":"started","id":"sort/10","throughput":{"bytes":10},"kind":"iter"}"#,
            r#"{"type":"warmed-up","iterations":1023,"elapsed_ns":3000000,"total_ns":3100000}"#,
            r#"{"type":"samples","iterations":[10,20,30],"elapsed_ns":[1000,2000,3000]}"#,
            r#"{"type":"counted","allocations":[2,3],"bytes":[512,600],"peak_bytes":[64,64],"other_allocations":[0,1],"other_bytes":[0,8]}"#,
            r#"{"type":"error","id":"sort/10","message":"panicked\nat x","fatal":true}"#,
        ];
        let frames = frames.map(|frame| frame.as_bytes().to_vec());
        for frame in &frames[1..6] {
            assert!(
                Frame::parse(frame).is_ok(),
                "{}",
                String::from_utf8_lossy(frame)
            );
        }
        crate::mutations::attack("frames", &frames, |line| match Frame::parse(line) {
            Ok(Frame::Counted(answer)) => drop(answer.to_allocations(16)),
            Ok(Frame::Latencies(answer)) => drop(answer.into_latencies(16, 100)),
            Ok(frame) => drop(frame.find_excess()),
            Err(_) => drop(Frame::resembles_hello(line)),
        });
    }
}
