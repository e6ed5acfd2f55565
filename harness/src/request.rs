//! Requests of the parent, one line of words each (the bench protocol, sections 2 and 4).

use std::time::Duration;

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
    /// Send the recorded operations, with at most this many single times.
    Latencies(usize),
    Finish,
    Bye,
}

/// The samples of one request, in order.
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
            _ => Err(format!("{line:?} is no request of an addressable harness")),
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
        .ok_or_else(|| format!("{word:?} is no decimal integer below 2^63"))
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
    use super::*;

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
