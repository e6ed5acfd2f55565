//! Frames of the child, one JSON object per line (the bench protocol, section 3), and requests of the parent, one line of words each (sections 2 and
//! 4).
//!
//! Invariant: each frame is written in one call, from a buffer that is reserved in advance.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::process;
use std::time::Duration;

use crate::allocations::Counts;
use crate::clock::saturating_nanos;
use crate::driver::WarmUpTotals;
use crate::latencies::{LatencyRecorder, RecordedWindow};
use crate::settings::{AnnouncedBenchmark, Settings, Throughput};

/// Maximum length of a number below 2^63, including the comma after it.
const LONGEST_NUMBER: usize = 20;

/// Upper bound for the length of the other parts of a `samples` frame.
const REST_OF_SAMPLES: usize = 64;

/// The harness, as it introduces itself in `hello`.
pub(crate) struct HarnessIdentity {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// The capability that says how the parent selects benchmarks: `addressable` or `sequential`
    pub(crate) reach: &'static str,
}

/// The version of this crate and of `perfcheck-criterion`, which are released together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The identity of this crate.
pub(crate) const ADDRESSABLE: HarnessIdentity = HarnessIdentity {
    // Not `CARGO_PKG_NAME`: `cargo perfcheck` also builds these sources under another name.
    name: "perfcheck",
    version: VERSION,
    reach: "addressable",
};

/// The stream of frames to the parent.
#[derive(Debug)]
pub(crate) struct Frames {
    out: File,
    line: String,
}

impl Frames {
    /// Creates a stream that writes frames to `out`.
    pub(crate) fn new(out: File) -> Self {
        Self {
            out,
            line: String::with_capacity(4096),
        }
    }

    /// Returns a second stream to the same parent, for the panic hook.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        self.out.try_clone().map(Self::new)
    }

    /// Sends an empty line, in case something has already printed an unfinished line to stdout.
    pub(crate) fn send_empty_line(&mut self) {
        self.line.clear();
        self.send();
    }

    pub(crate) fn send_hello(
        &mut self,
        harness: &HarnessIdentity,
        protocol: u32,
        counts_allocations: bool,
        quantum_ns: u64,
    ) {
        let allocations = if counts_allocations {
            r#","allocations""#
        } else {
            ""
        };
        self.line = format!(
            r#"{{"type":"hello","protocol":{protocol},"harness":"{}","version":"{}","capabilities":["{}","slowdown"{allocations}],"quantum_ns":{quantum_ns}}}"#,
            harness.name, harness.version, harness.reach,
        );
        self.send();
    }

    pub(crate) fn benchmark(&mut self, announcement: &AnnouncedBenchmark) {
        let AnnouncedBenchmark { id, settings } = announcement;
        self.begin("benchmark");
        self.begin_member("id");
        push_string(&mut self.line, id);
        self.begin_member("version");
        match &settings.version {
            Some(version) => push_string(&mut self.line, version),
            None => self.line.push_str("null"),
        }
        self.push_throughput(settings.throughput);
        if let Some(unit) = &settings.unit {
            self.begin_member("metric");
            self.line.push_str(r#"{"kind":"amount","unit":"#);
            push_string(&mut self.line, unit);
            self.line.push('}');
        }
        self.begin_member("settings");
        push_settings(&mut self.line, settings);
        self.end();
    }

    pub(crate) fn broken(&mut self, message: &str) {
        self.begin("broken");
        self.begin_member("message");
        push_string(&mut self.line, message);
        self.end();
    }

    pub(crate) fn listed(&mut self, count: usize) {
        self.begin("listed");
        self.begin_member("count");
        push(&mut self.line, count);
        self.end();
    }

    pub(crate) fn started(&mut self, id: &str, throughput: Throughput, is_latency: bool) {
        self.begin("started");
        self.begin_member("id");
        push_string(&mut self.line, id);
        self.push_throughput(throughput);
        if is_latency {
            self.line.push_str(r#","kind":"latency""#);
        }
        self.end();
    }

    pub(crate) fn warmed_up(&mut self, warm_up: &WarmUpTotals) {
        self.begin("warmed-up");
        self.begin_member("iterations");
        push(&mut self.line, warm_up.iterations);
        self.begin_member("elapsed_ns");
        push(&mut self.line, warm_up.elapsed_ns);
        self.begin_member("total_ns");
        push(&mut self.line, warm_up.total_ns);
        self.end();
    }

    /// Reserves memory for a `samples` frame, so that sending it allocates nothing.
    pub(crate) fn reserve_samples(&mut self, count: usize) {
        self.line.clear();
        self.line
            .reserve(REST_OF_SAMPLES + 2 * LONGEST_NUMBER * count);
    }

    pub(crate) fn samples(&mut self, iterations: &[u64], elapsed_ns: &[u64]) {
        self.begin("samples");
        self.begin_member("iterations");
        push_array(&mut self.line, iterations);
        self.begin_member("elapsed_ns");
        push_array(&mut self.line, elapsed_ns);
        self.end();
    }

    pub(crate) fn counted(&mut self, all: &[Counts]) {
        type CountsPart = fn(&Counts) -> u64;
        let parts: [(&str, CountsPart); 5] = [
            ("allocations", |counts| counts.allocations),
            ("bytes", |counts| counts.bytes),
            ("peak_bytes", |counts| counts.peak_bytes),
            ("other_allocations", |counts| counts.other_allocations),
            ("other_bytes", |counts| counts.other_bytes),
        ];
        self.begin("counted");
        for (name, part) in parts {
            self.begin_array(name);
            for counts in all {
                self.begin_item();
                push(&mut self.line, part(counts));
            }
            self.line.push(']');
        }
        self.end();
    }

    /// Sends the results of a latency benchmark, with the times of at most `times` single operations.
    pub(crate) fn latencies(&mut self, latencies: &LatencyRecorder, times: usize) {
        let histogram = latencies.histogram();
        self.begin("latencies");
        self.begin_member("digits");
        push(&mut self.line, histogram.digits().get());
        self.begin_array("counts");
        let (first, counts) = histogram.counts();
        for (index, &count) in counts.iter().enumerate() {
            if count > 0 {
                self.begin_item();
                push(&mut self.line, format_args!("[{},{count}]", first + index));
            }
        }
        self.line.push(']');
        self.begin_member("clamped");
        push(&mut self.line, histogram.clamped());
        self.begin_member("errors");
        push(&mut self.line, latencies.errors());
        self.begin_array("messages");
        for message in latencies.messages() {
            self.begin_item();
            push_string(&mut self.line, message);
        }
        self.line.push(']');
        self.begin_member("reservoir_ns");
        push_array(&mut self.line, &latencies.reservoir_ns(times));
        self.begin_array("windows");
        let (closed, open) = latencies.windows();
        for window in closed {
            self.push_window(window);
        }
        if let Some(open) = open {
            self.push_window(&open);
        }
        self.line.push(']');
        self.end();
    }

    fn push_window(&mut self, window: &RecordedWindow) {
        self.begin_item();
        push(
            &mut self.line,
            format_args!(
                r#"{{"operations":{},"errors":{}"#,
                window.operations, window.errors
            ),
        );
        self.push_optional("p50_ns", window.p50_ns);
        self.push_optional("p95_ns", window.p95_ns);
        self.push_optional("p99_ns", window.p99_ns);
        self.line.push('}');
    }

    pub(crate) fn finished(&mut self, id: &str) {
        self.begin("finished");
        self.begin_member("id");
        push_string(&mut self.line, id);
        self.end();
    }

    pub(crate) fn skipped(&mut self, id: &str, reason: &str) {
        self.begin("skipped");
        self.begin_member("id");
        push_string(&mut self.line, id);
        self.begin_member("reason");
        push_string(&mut self.line, reason);
        self.end();
    }

    pub(crate) fn error(&mut self, id: Option<&str>, message: &str) {
        self.push_error(id, message);
        self.end();
    }

    /// Sends an error after which the child ends.
    pub(crate) fn fatal_error(&mut self, id: Option<&str>, message: &str) {
        self.push_error(id, message);
        self.line.push_str(r#","fatal":true"#);
        self.end();
    }

    fn push_error(&mut self, id: Option<&str>, message: &str) {
        self.begin("error");
        self.begin_member("id");
        match id {
            Some(id) => push_string(&mut self.line, id),
            None => self.line.push_str("null"),
        }
        self.begin_member("message");
        push_string(&mut self.line, message);
    }

    pub(crate) fn end_of_benchmarks(&mut self) {
        self.begin("end");
        self.end();
    }

    pub(crate) fn bye(&mut self) {
        self.begin("bye");
        self.end();
    }

    fn begin(&mut self, kind: &str) {
        self.line.clear();
        self.line.push_str(r#"{"type":""#);
        self.line.push_str(kind);
        self.line.push('"');
    }

    fn begin_member(&mut self, name: &str) {
        self.line.push_str(",\"");
        self.line.push_str(name);
        self.line.push_str("\":");
    }

    fn push_optional(&mut self, name: &str, number: Option<u64>) {
        self.begin_member(name);
        self.push_number_or_null(number);
    }

    fn push_number_or_null(&mut self, number: Option<u64>) {
        match number {
            Some(number) => push(&mut self.line, number),
            None => self.line.push_str("null"),
        }
    }

    /// Begins an array as the next member. The caller writes the items and the closing bracket.
    fn begin_array(&mut self, name: &str) {
        self.begin_member(name);
        self.line.push('[');
    }

    /// Separates the next item of an array from the previous one.
    fn begin_item(&mut self) {
        if !self.line.ends_with('[') {
            self.line.push(',');
        }
    }

    fn push_throughput(&mut self, throughput: Throughput) {
        self.line.push_str(r#","throughput":{"bytes":"#);
        self.push_number_or_null(throughput.bytes_per_iteration());
        self.push_optional("elements", throughput.elements_per_iteration());
        self.line.push('}');
    }

    fn end(&mut self) {
        self.line.push('}');
        self.send();
    }

    /// Writes the line. If the parent is gone, ends the process: nobody reads an answer.
    fn send(&mut self) {
        self.line.push('\n');
        if self.out.write_all(self.line.as_bytes()).is_err() {
            process::exit(0);
        }
    }
}

fn push_settings(line: &mut String, settings: &Settings) {
    let mut separator = '{';
    let mut member = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            line.push(separator);
            separator = ',';
            push(line, format_args!("\"{name}\":{value}"));
        }
    };
    let nanoseconds = |time: std::time::Duration| saturating_nanos(time).to_string();
    member("processes", settings.processes.map(|n| n.to_string()));
    member("samples", settings.samples.map(|n| n.to_string()));
    member("warm_up_ns", settings.warm_up.map(nanoseconds));
    member("measurement_ns", settings.measurement.map(nanoseconds));
    let mode = settings.sampling_mode.map(|m| format!("\"{}\"", m.name()));
    member("sampling_mode", mode);
    // Rust formats finite floats in JSON's syntax.
    let threshold = settings
        .noise_threshold
        .map(|fraction| fraction.to_string());
    member("noise_threshold", threshold);
    if separator == '{' {
        line.push('{');
    }
    line.push('}');
}

fn push(line: &mut String, value: impl std::fmt::Display) {
    write!(line, "{value}").expect("a String takes any text");
}

fn push_array(line: &mut String, numbers: &[u64]) {
    let mut separator = '[';
    for number in numbers {
        line.push(separator);
        separator = ',';
        push(line, number);
    }
    if separator == '[' {
        line.push('[');
    }
    line.push(']');
}

/// Appends a JSON string (RFC 8259, section 7).
fn push_string(line: &mut String, text: &str) {
    line.push('"');
    for character in text.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            control if control < ' ' => push(line, format_args!("\\u{:04x}", control as u32)),
            other => line.push(other),
        }
    }
    line.push('"');
}

/// The most samples that one request may ask for, so that their frame stays below the protocol's 64 MiB.
pub(crate) const MAX_SAMPLES: u64 = 1_000_000;

/// The most iterations whose allocations one request may count.
pub(crate) const MAX_COUNTED: u64 = 10_000;

/// The exclusive upper limit of counts and times.
const LIMIT: u64 = 1 << 63;

/// A request of the parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParentRequest {
    List,
    Start(String),
    WarmUp(Duration),
    Sample(Schedule),
    /// Count the allocations of at most this many iterations.
    Count(usize),
    /// Send the results of a latency benchmark, with the times of at most this many single operations.
    Latencies(usize),
    Finish,
    Bye,
}

/// The samples of one request, in the order in which they are taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Schedule {
    specs: Vec<ScheduleItem>,
}

/// `samples` samples of `iterations` iterations each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ScheduleItem {
    iterations: u64,
    samples: u64,
}

impl Schedule {
    /// Returns the number of samples.
    pub(crate) fn len(&self) -> usize {
        self.specs.iter().map(|spec| spec.samples as usize).sum()
    }

    /// Returns the iteration count of each sample.
    pub(crate) fn iterations(&self) -> impl Iterator<Item = u64> {
        self.specs
            .iter()
            .flat_map(|spec| (0..spec.samples).map(|_| spec.iterations))
    }

    fn parse(specs: &str) -> Result<Self, String> {
        let specs = specs
            .split(' ')
            .map(ScheduleItem::parse)
            .collect::<Result<Vec<_>, _>>()?;
        let samples = specs
            .iter()
            .fold(0_u64, |sum, spec| sum.saturating_add(spec.samples));
        if samples > MAX_SAMPLES {
            return Err(format!(
                "{samples} samples in one request; at most {MAX_SAMPLES} are allowed"
            ));
        }
        Ok(Self { specs })
    }
}

impl ScheduleItem {
    fn parse(spec: &str) -> Result<Self, String> {
        let (iterations, samples) = spec.split_once('*').unwrap_or((spec, "1"));
        let spec = Self {
            iterations: parse_number(iterations)?,
            samples: parse_number(samples)?,
        };
        if spec.iterations == 0 || spec.samples == 0 {
            return Err("a sample has at least one iteration, and a SPEC one sample".to_owned());
        }
        Ok(spec)
    }
}

impl ParentRequest {
    /// Parses a line without its LF. The error says what is wrong with it.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        match line.split_once(' ') {
            None if line == "list" => Ok(Self::List),
            None if line == "finish" => Ok(Self::Finish),
            None if line == "bye" => Ok(Self::Bye),
            Some(("start", id)) => unescape(id).map(Self::Start),
            Some(("warm-up", time)) => parse_number(time)
                .map(Duration::from_nanos)
                .map(Self::WarmUp),
            Some(("sample", specs)) => Schedule::parse(specs).map(Self::Sample),
            Some(("count", limit)) => match parse_number(limit)? {
                limit @ 1..=MAX_COUNTED => Ok(Self::Count(limit as usize)),
                limit => Err(format!(
                    "{limit} iterations to count; 1 to {MAX_COUNTED} are allowed"
                )),
            },
            Some(("latencies", most)) => {
                parse_number(most).map(|most| Self::Latencies(most as usize))
            }
            _ => Err(format!(
                "{line:?} is not a request of an addressable harness"
            )),
        }
    }

    /// Returns the first word of the request.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Start(_) => "start",
            Self::WarmUp(_) => "warm-up",
            Self::Sample(_) => "sample",
            Self::Count(_) => "count",
            Self::Latencies(_) => "latencies",
            Self::Finish => "finish",
            Self::Bye => "bye",
        }
    }
}

fn parse_number(word: &str) -> Result<u64, String> {
    // `parse` alone would accept a leading `+`.
    let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse()
        .ok()
        .filter(|&number| digits && number < LIMIT)
        .ok_or_else(|| format!("{word:?} is not a decimal integer below 2^63"))
}

/// Escapes an id so that it fits on one line of a request or a listing.
pub fn escape(id: &str) -> String {
    let mut escaped = String::with_capacity(id.len());
    for character in id.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn unescape(text: &str) -> Result<String, String> {
    let mut id = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            id.push(character);
            continue;
        }
        id.push(match characters.next() {
            Some('\\') => '\\',
            Some('n') => '\n',
            Some('r') => '\r',
            _ => {
                return Err(format!(
                    "the id {text:?} has a backslash that is not `\\\\`, `\\n` or `\\r`"
                ));
            }
        });
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::SamplingMode;

    #[test]
    fn strings_are_escaped_as_json_wants() {
        let mut line = String::new();
        push_string(&mut line, "a\"b\\c\n\r\t\u{1}\u{1f} é😀/");
        assert_eq!(line, r#""a\"b\\c\n\r\t\u0001\u001f é😀/""#);
    }

    #[test]
    fn only_settings_that_were_set_are_sent() {
        let mut line = String::new();
        push_settings(&mut line, &Settings::default());
        assert_eq!(line, "{}");
        line.clear();
        let settings = Settings {
            processes: Some(3),
            warm_up: Some(Duration::from_millis(1)),
            sampling_mode: Some(SamplingMode::Flat),
            noise_threshold: Some(0.03),
            ..Settings::default()
        };
        push_settings(&mut line, &settings);
        assert_eq!(
            line,
            r#"{"processes":3,"warm_up_ns":1000000,"sampling_mode":"flat","noise_threshold":0.03}"#
        );
    }

    #[test]
    fn a_reserved_samples_frame_fits_the_largest_numbers() {
        let largest = vec![(1_u64 << 63) - 1; 1000];
        let mut line = String::new();
        push_array(&mut line, &largest);
        assert!(2 * line.len() <= REST_OF_SAMPLES / 2 + 2 * LONGEST_NUMBER * largest.len());
    }

    #[test]
    fn requests_of_every_kind_are_read() {
        let parse = |line| ParentRequest::parse(line).unwrap();
        assert_eq!(parse("list"), ParentRequest::List);
        assert_eq!(
            parse("start sort/a b"),
            ParentRequest::Start("sort/a b".into())
        );
        assert_eq!(
            parse("warm-up 1500"),
            ParentRequest::WarmUp(Duration::from_nanos(1500))
        );
        assert_eq!(parse("count 16"), ParentRequest::Count(16));
        assert_eq!(parse("latencies 0"), ParentRequest::Latencies(0));
        assert_eq!(parse("finish"), ParentRequest::Finish);
        assert_eq!(parse("bye"), ParentRequest::Bye);
        let ParentRequest::Sample(schedule) = parse("sample 5 7*3 1") else {
            panic!("not a sample request");
        };
        assert_eq!(schedule.len(), 5);
        assert_eq!(schedule.iterations().collect::<Vec<_>>(), [5, 7, 7, 7, 1]);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in [
            "",
            "lists",
            "list ",
            "begin",
            "start",
            "start \\x",
            "start \\",
            "warm-up",
            "warm-up -1",
            "warm-up +1",
            "warm-up 9223372036854775808",
            "sample",
            "sample ",
            "sample 0",
            "sample 1*0",
            "sample 1  2",
            "sample 1*2*3",
            "sample 1*1000001",
            "sample 1*9223372036854775807 1*9223372036854775807 1*9223372036854775807",
        ] {
            assert!(ParentRequest::parse(line).is_err(), "{line:?}");
        }
        assert!(ParentRequest::parse("warm-up 9223372036854775807").is_ok());
    }

    #[test]
    fn any_id_survives_being_put_on_a_line() {
        for id in [
            "plain",
            "a\nb",
            "\r",
            "\\",
            "\\n",
            "\\\\n",
            "größe/ 😀 ",
            "",
        ] {
            let escaped = escape(id);
            assert!(!escaped.contains(['\n', '\r']));
            assert_eq!(unescape(&escaped).as_deref(), Ok(id));
        }
    }
}
