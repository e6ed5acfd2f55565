//! Compares results with reference values. For each quantity, it counts the comparisons and keeps the largest error.

use std::fmt::Write as _;

use perfcheck_stats::Interval;
use serde_json::Value;

/// The largest allowed errors: of results that are computed directly, and of p-values.
const DETERMINISTIC: f64 = 1e-9;
const P_VALUE: f64 = 1e-6;

/// One quantity, with its reference and the outcome of its comparisons.
pub struct Row {
    pub quantity: String,
    pub against: &'static str,
    pub compared: usize,
    pub worst: f64,
}

#[derive(Default)]
pub struct Checks {
    pub rows: Vec<Row>,
    pub failures: Vec<String>,
    /// Name of the current data set
    pub context: String,
}

/// A quantity to compare: its name, what it is compared with, the bound of its error, and the magnitude below which errors are absolute.
#[derive(Clone, Copy)]
pub struct Quantity<'a> {
    pub name: &'a str,
    pub against: &'static str,
    pub bound: f64,
    pub size: f64,
}

pub fn relative<'a>(name: &'a str, against: &'static str) -> Quantity<'a> {
    Quantity {
        name,
        against,
        bound: DETERMINISTIC,
        size: 0.0,
    }
}

impl<'a> Quantity<'a> {
    pub fn of_size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    pub fn p_value(name: &'a str, against: &'static str) -> Self {
        Self {
            bound: P_VALUE,
            ..relative(name, against)
        }
    }
}

impl Checks {
    pub fn one(&mut self, quantity: Quantity<'_>, expected: &Value, found: Option<f64>) {
        let error = match (expected.as_f64(), found) {
            (None, None) => 0.0,
            (Some(expected), Some(found)) if found == expected => 0.0,
            (Some(expected), Some(found)) => {
                (found - expected).abs() / expected.abs().max(quantity.size)
            }
            _ => f64::INFINITY,
        };
        let known = self
            .rows
            .iter()
            .position(|row| row.quantity == quantity.name);
        let at = known.unwrap_or_else(|| {
            self.rows.push(Row {
                quantity: quantity.name.to_owned(),
                against: quantity.against,
                compared: 0,
                worst: 0.0,
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[at];
        row.compared += 1;
        row.worst = row.worst.max(error);
        if error.is_nan() || error > quantity.bound {
            let name = quantity.name;
            self.failures.push(format!(
                "{}: {name} is {found:?} instead of {expected}, off by {error:.1e}",
                self.context
            ));
        }
    }

    /// Compares several values of one quantity. If the reference is `null`, `found` must be `None`.
    pub fn all(&mut self, quantity: Quantity<'_>, expected: &Value, found: Option<&[f64]>) {
        match (expected, found) {
            (Value::Array(expected), Some(found)) if expected.len() == found.len() => {
                for (expected, found) in expected.iter().zip(found) {
                    self.one(quantity, expected, Some(*found));
                }
            }
            (Value::Null, None) => self.one(quantity, expected, None),
            _ => self.failures.push(format!(
                "{}: {} is {found:?} instead of {expected}",
                self.context, quantity.name
            )),
        }
    }

    pub fn interval(&mut self, quantity: Quantity<'_>, expected: &Value, found: Option<Interval>) {
        let bounds = found.map(|interval| [interval.lower, interval.upper]);
        self.all(
            quantity,
            expected,
            bounds.as_ref().map(|bounds| &bounds[..]),
        );
    }

    /// Returns the results as the table of docs/internals/src/validation.md.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for row in &self.rows {
            let worst = match row.worst {
                0.0 => "0".to_owned(),
                worst => format!("{worst:.0e}"),
            };
            let (quantity, against, compared) = (&row.quantity, row.against, row.compared);
            writeln!(table, "| {quantity} | {against} | {compared} | {worst} |").unwrap();
        }
        table
    }
}

#[test]
fn wrong_missing_and_superfluous_values_are_failures() {
    let failures = |expected: Value, found| {
        let mut checks = Checks::default();
        checks.one(relative("x", "y"), &expected, found);
        checks.failures.len()
    };
    assert_eq!(failures(Value::from(1.0), Some(1.0 + 1e-10)), 0);
    assert_eq!(failures(Value::from(1.0), Some(1.0 + 1e-8)), 1);
    assert_eq!(failures(Value::from(1.0), Some(f64::NAN)), 1);
    assert_eq!(failures(Value::from(1.0), None), 1);
    assert_eq!(failures(Value::Null, Some(0.0)), 1);
    assert_eq!(failures(Value::Null, None), 0);
    let mut checks = Checks::default();
    checks.all(
        relative("x", "y"),
        &serde_json::json!([1.0, 2.0]),
        Some(&[1.0]),
    );
    assert_eq!(checks.failures.len(), 1);
}
