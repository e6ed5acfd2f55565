//! Measurements and their formats: wall time, or any quantity that an author's [`Measurement`] converts to a number.

use std::time::{Duration, Instant};

use perfcheck::sequence;

use crate::configuration::Throughput;

/// Formats measured values for people. Values are those that [`Measurement::to_f64`] returns.
pub trait ValueFormatter {
    /// Formats `value` with its unit.
    fn format_value(&self, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_values(value, &mut values);
        format!("{} {unit}", four_digits(values[0]))
    }

    /// Formats the rate at which `throughput` is processed if an iteration measured `value`.
    fn format_throughput(&self, throughput: &Throughput, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_throughputs(value, throughput, &mut values);
        format!("{} {unit}", four_digits(values[0]))
    }

    /// Converts `values` to a unit that suits `typical_value`. Returns the unit.
    fn scale_values(&self, typical_value: f64, values: &mut [f64]) -> &'static str;

    /// Converts `values` to rates in a unit that suits `typical_value`. Returns the unit.
    fn scale_throughputs(
        &self,
        typical_value: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str;

    /// Converts `values` to a unit that is the same for all benchmarks. Returns the unit. `cargo perfcheck` stores values in this unit or a fraction
    /// of it.
    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str;
}

/// A way to measure a section of code.
pub trait Measurement {
    /// The state that [`start`](Self::start) passes to [`end`](Self::end).
    type Intermediate;

    /// A measured value.
    type Value;

    /// Starts the measurement, right before the iterations.
    fn start(&self) -> Self::Intermediate;

    /// Ends the measurement, right after the iterations.
    fn end(&self, i: Self::Intermediate) -> Self::Value;

    /// Adds two values.
    fn add(&self, v1: &Self::Value, v2: &Self::Value) -> Self::Value;

    /// Returns the value of an empty section of code.
    fn zero(&self) -> Self::Value;

    /// Converts the value to a number.
    fn to_f64(&self, value: &Self::Value) -> f64;

    /// Returns the format of values.
    fn formatter(&self) -> &dyn ValueFormatter;
}

/// Wall time, the default measurement; [`Criterion::with_measurement`](crate::Criterion::with_measurement) replaces it.
pub struct WallTime;

impl Measurement for WallTime {
    type Intermediate = Instant;
    type Value = Duration;

    fn start(&self) -> Instant {
        Instant::now()
    }

    fn end(&self, start: Instant) -> Duration {
        start.elapsed()
    }

    fn add(&self, v1: &Duration, v2: &Duration) -> Duration {
        *v1 + *v2
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

/// The format of values in nanoseconds.
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn format_value(&self, value: f64) -> String {
        sequence::format_time(value)
    }

    fn format_throughput(&self, throughput: &Throughput, value: f64) -> String {
        match throughput {
            Throughput::Bits(_) => {
                let mut values = [value];
                let unit = self.scale_throughputs(value, throughput, &mut values);
                format!("{} {unit}", four_digits(values[0]))
            }
            known => sequence::format_rate(known.to_perfcheck(), value),
        }
    }

    fn scale_values(&self, typical_value: f64, values: &mut [f64]) -> &'static str {
        let units = [
            (1e-3, "ps"),
            (1.0, "ns"),
            (1e3, "µs"),
            (1e6, "ms"),
            (1e9, "s"),
        ];
        let (size, unit) = largest_below(typical_value, &units);
        for value in values {
            *value /= size;
        }
        unit
    }

    fn scale_throughputs(
        &self,
        typical_value: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str {
        let (count, units) = match *throughput {
            Throughput::Bits(bits) => (
                bits,
                [(1.0, "b/s"), (1e3, "kb/s"), (1e6, "Mb/s"), (1e9, "Gb/s")],
            ),
            Throughput::Bytes(bytes) => (
                bytes,
                [
                    (1.0, "B/s"),
                    (1024.0, "KiB/s"),
                    (1_048_576.0, "MiB/s"),
                    (1_073_741_824.0, "GiB/s"),
                ],
            ),
            Throughput::BytesDecimal(bytes) => (
                bytes,
                [(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")],
            ),
            Throughput::Elements(elements) | Throughput::ElementsAndBytes { elements, .. } => (
                elements,
                [
                    (1.0, "elem/s"),
                    (1e3, "Kelem/s"),
                    (1e6, "Melem/s"),
                    (1e9, "Gelem/s"),
                ],
            ),
        };
        let per_second = |ns: f64| count as f64 * 1e9 / ns;
        let (size, unit) = largest_below(per_second(typical_value), &units);
        for value in values {
            *value = per_second(*value) / size;
        }
        unit
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "ns"
    }
}

/// Returns the largest of the ascending `units` in which `value` is at least 1, or the smallest unit if there is none.
fn largest_below(value: f64, units: &[(f64, &'static str)]) -> (f64, &'static str) {
    let fitting = units.iter().rev().find(|(size, _)| value >= *size);
    *fitting.unwrap_or(&units[0])
}

fn four_digits(value: f64) -> String {
    let decimals = match value.abs() {
        value if value < 9.9995 => 3,
        value if value < 99.995 => 2,
        value if value < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// The conversion of measured values into the whole numbers that `cargo perfcheck` stores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredScale {
    /// Number of stored units in a measured unit.
    factor: f64,
    /// The stored unit. `None` if it is the nanosecond.
    pub(crate) unit: Option<String>,
}

impl StoredScale {
    /// Chooses the stored unit. It is the nanosecond if [`ValueFormatter::scale_for_machines`] returns a unit of time. Otherwise it is the returned
    /// unit, which is divided by 1000 as long as it is larger than the measured unit, but at most six times.
    pub(crate) fn from_formatter(formatter: &dyn ValueFormatter) -> Self {
        let mut one = [1.0];
        let name = formatter.scale_for_machines(&mut one);
        let size = if one[0].is_finite() && one[0] > 0.0 {
            one[0]
        } else {
            1.0
        };
        let ns = match name.trim() {
            "ns" => Some(1.0),
            "us" | "µs" | "μs" => Some(1e3),
            "ms" => Some(1e6),
            "s" => Some(1e9),
            _ => None,
        };
        if let Some(ns) = ns {
            return Self {
                factor: size * ns,
                unit: None,
            };
        }
        let mut parts = 0;
        let mut factor = size;
        while factor < 0.999_999 && parts < 18 {
            factor *= 1e3;
            parts += 3;
        }
        let unit = match parts {
            0 => name.trim().to_owned(),
            _ => format!("10^-{parts} {}", name.trim()),
        };
        Self {
            factor,
            unit: Some(unit),
        }
    }

    /// Converts a measured value to stored units.
    pub(crate) fn to_stored(&self, value: f64) -> Duration {
        // The conversion saturates: negative values and NaN become 0.
        Duration::from_nanos((value * self.factor).round() as u64)
    }

    /// Converts a number of stored units to a measured value.
    pub(crate) fn restore(&self, stored: f64) -> f64 {
        stored / self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A format with a named unit. The fields are the number of these units in one measured unit, and the name.
    struct Unit(f64, &'static str);

    impl ValueFormatter for Unit {
        fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
            self.1
        }
        fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
            self.1
        }
        fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
            for value in values {
                *value *= self.0;
            }
            self.1
        }
    }

    #[test]
    fn times_are_stored_in_nanoseconds() {
        assert_eq!(
            StoredScale::from_formatter(WallTime.formatter()),
            StoredScale {
                factor: 1.0,
                unit: None
            }
        );
        let milliseconds = StoredScale::from_formatter(&Unit(1.0, "ms"));
        assert_eq!(milliseconds.to_stored(2.5), Duration::from_micros(2500));
        assert_eq!(milliseconds.restore(2.5e6), 2.5);
    }

    #[test]
    fn amounts_are_stored_in_parts_that_lose_nothing() {
        let cycles = StoredScale::from_formatter(&Unit(1.0, "cycles"));
        assert_eq!(
            (cycles.to_stored(7.0).as_nanos(), cycles.unit.as_deref()),
            (7, Some("cycles"))
        );
        let halves = StoredScale::from_formatter(&Unit(2e-9, "s/2"));
        assert_eq!(
            (halves.to_stored(7.0).as_nanos(), halves.unit.as_deref()),
            (14, Some("10^-9 s/2"))
        );
        assert_eq!(cycles.to_stored(-1.0), Duration::ZERO);
    }

    #[test]
    fn wall_time_is_shown_in_the_unit_that_suits_it() {
        let formatter = WallTime.formatter();
        assert_eq!(formatter.format_value(1234.0), "1.234 µs");
        let mut values = [0.5, 1.0];
        assert_eq!(formatter.scale_values(0.5, &mut values), "ps");
        assert_eq!(values, [500.0, 1000.0]);
        let mut rates = [1e9];
        assert_eq!(
            formatter.scale_throughputs(1e9, &Throughput::Bytes(2048), &mut rates),
            "KiB/s"
        );
        assert_eq!(rates, [2.0]);
        assert_eq!(
            formatter.format_throughput(&Throughput::Bits(3000), 1e9),
            "3.000 kb/s"
        );
        assert_eq!(
            formatter.format_throughput(&Throughput::Elements(3000), 1e9),
            "3.000 kelem/s"
        );
    }
}
