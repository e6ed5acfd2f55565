//! An SVG document, which is written element by element. Also its axes, which convert values to positions and have ticks at round values, with labels
//! that all have the same unit.

use std::fmt::{Display, Write as _};
use std::ops::Range;

use crate::output::scale::Scale;
use crate::sanitize;

/// Default width of a picture, in the units in which it is drawn. A reader's program scales the picture to the available room.
pub(super) const WIDTH: f64 = 600.0;

/// Style rules of all pictures. Colors are light unless the reader prefers dark ones. Each selector is a single class or element, because simple
/// viewers support no others.
const STYLE: &str = "\
text{font:15px system-ui,sans-serif;fill:#1f2328}.small{font-size:13px}.faint{fill:#59636e}.head{font-weight:600}\
.page{fill:#fff}.frame{stroke:#d1d9e0;fill:none}.area{fill:#0969da;fill-opacity:.18;stroke:#0969da;stroke-width:1.5}\
.second{fill:#bc4c00;fill-opacity:.18;stroke:#bc4c00;stroke-width:1.5}\
.samples{stroke:#0969da;stroke-width:1;stroke-opacity:.45;fill:none}.dots{fill:#0969da;fill-opacity:.6}\
.curve{stroke:#0969da;stroke-width:1.5;fill:none}.mild{stroke:#9a6700;stroke-width:1.5;fill:none}.severe{stroke:#cf222e;stroke-width:1.5;fill:none}.fence{stroke:#59636e;stroke-dasharray:4 3;fill:none}\
.line{stroke:#bc4c00;stroke-width:1.75;fill:none}.band{fill:#bc4c00;fill-opacity:.2}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.faint{fill:#9198a1}.page{fill:#0d1117}.frame{stroke:#3d444d}\
.area{fill:#4493f8;stroke:#4493f8}.second{fill:#f0883e;stroke:#f0883e}.samples{stroke:#4493f8}.dots{fill:#4493f8}.line{stroke:#f0883e}.band{fill:#f0883e}\
.curve{stroke:#4493f8}.mild{stroke:#d29922}.severe{stroke:#f85149}.fence{stroke:#9198a1}}";

/// The part of a text that is at the position where it is drawn: its start, its middle or its end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG document that is being written.
#[derive(Debug)]
pub(super) struct Svg {
    body: String,
    width: f64,
    /// Style rules that this picture has in addition to those of all pictures.
    style: &'static str,
}

impl Default for Svg {
    fn default() -> Self {
        Self::new(WIDTH, "")
    }
}

impl Svg {
    /// Creates an empty picture of this width. `style` has style rules in addition to those of all pictures.
    pub(super) fn new(width: f64, style: &'static str) -> Self {
        Self {
            body: String::new(),
            width,
            style,
        }
    }

    /// Draws a group of elements. Browsers show `title` when the pointer is on one of them.
    pub(super) fn group(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        let title = sanitize::xml(title);
        self.element(format_args!("<g><title>{title}</title>"));
        draw(self);
        self.element("</g>");
    }

    /// Draws a line of text.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = sanitize::xml(text);
        self.element(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" class="{class}">{text}</text>"#
        ));
    }

    /// Draws a line that goes through `points` in their order.
    pub(super) fn line(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let data = path_data(points);
        self.element(format_args!(r#"<path class="{class}" d="{data}"/>"#));
    }

    /// Draws a filled area whose corners are `points`.
    pub(super) fn area(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let data = path_data(points);
        self.element(format_args!(r#"<path class="{class}" d="{data}Z"/>"#));
    }

    /// Draws a rectangle between two corners.
    pub(super) fn rectangle(
        &mut self,
        class: &str,
        (left, top): (f64, f64),
        (right, bottom): (f64, f64),
    ) {
        let (width, height) = (right - left, bottom - top);
        self.element(format_args!(
            r#"<rect class="{class}" x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}"/>"#
        ));
    }

    /// Draws vertical strokes of the same height at these horizontal positions, all in one element.
    pub(super) fn strokes(&mut self, class: &str, top: f64, height: f64, places: &[f64]) {
        let mut data = String::new();
        for x in places {
            let _ = write!(data, "M{x:.1} {top:.1}v{height:.1}");
        }
        self.element(format_args!(r#"<path class="{class}" d="{data}"/>"#));
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64)) {
        self.element(format_args!(
            r#"<circle class="dots" cx="{x:.1}" cy="{y:.1}" r="2.5"/>"#
        ));
    }

    /// Returns the picture as an element of an HTML page, which sets its colors. The text beside it must say the same.
    pub(super) fn inline(&self, height: f64) -> String {
        let Self { body, width, .. } = self;
        format!(
            r#"<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">
{body}</svg>"#
        )
    }

    fn element(&mut self, element: impl Display) {
        let _ = writeln!(self.body, "{element}");
    }

    /// Returns the complete document. `name` is part of the ids of its elements, so that they differ from those of other pictures on the same page.
    pub(super) fn document(
        &self,
        name: &str,
        height: f64,
        title: &str,
        description: &str,
    ) -> String {
        let (title, description) = (sanitize::xml(title), sanitize::xml(description));
        let Self { body, width, style } = self;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" style="max-width:100%;height:auto" role="img" aria-labelledby="{name}-title {name}-desc">
<title id="{name}-title">{title}</title>
<desc id="{name}-desc">{description}</desc>
<style>{STYLE}{style}</style>
<rect class="page" width="100%" height="100%"/>
{body}</svg>
"#
        )
    }
}

fn path_data(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut data = String::new();
    for (index, (x, y)) in points.into_iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{command}{x:.1} {y:.1}");
    }
    data
}

/// Maximum number of ticks on an axis. It is approximate, because ticks are at round values.
const TICKS: f64 = 8.0;

/// The kind of values on an axis, which determines its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Times, in nanoseconds.
    Time,
    /// Counts.
    Count,
    /// Relative changes, as fractions. The labels are percentages.
    Change,
}

/// A linear axis, which converts values to positions in the picture.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    scale: Scale,
    places: Range<f64>,
    quantity: Quantity,
}

impl Axis {
    /// Creates an axis. The smallest value of `scale` is drawn at the start of `places` and the largest at the end. The start may be to the right of
    /// the end, or below it.
    pub(super) fn new(quantity: Quantity, scale: Scale, places: Range<f64>) -> Self {
        Self {
            scale,
            places,
            quantity,
        }
    }

    /// Returns the position of a value. A value beyond the axis is drawn at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = self.scale.position(value).clamp(0.0, 1.0);
        self.places.start + share * (self.places.end - self.places.start)
    }

    /// Returns the smallest and the largest value.
    pub(super) fn values(&self) -> (f64, f64) {
        self.scale.ends()
    }

    /// Returns the position and the label of each tick. Labels have no unit; see [`Axis::unit`].
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let (lower, upper) = self.scale.ends();
        let step = round_step((upper - lower) / TICKS);
        if !step.is_normal() {
            return Vec::new();
        }
        let (scale, _) = self.unit();
        let decimals = (-(step / scale).log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (lower / step).ceil() as i64;
        let last = (upper / step).floor() as i64;
        (first..=last)
            .map(|index| index as f64 * step)
            .map(|value| {
                let label = format!("{:.decimals$}", value / scale);
                (self.place(value), label.replace('-', "−"))
            })
            .collect()
    }

    /// Returns the unit of the labels: its size in nanoseconds, in counts or as a fraction, and its name.
    pub(super) fn unit(&self) -> (f64, &'static str) {
        let (lower, upper) = self.scale.ends();
        let largest = lower.abs().max(upper.abs());
        let units: &[(f64, &str)] = match self.quantity {
            Quantity::Time => &[
                (1e9, "s"),
                (1e6, "ms"),
                (1e3, "µs"),
                (1.0, "ns"),
                (1e-3, "ps"),
            ],
            Quantity::Count => &[
                (1e9, "billions"),
                (1e6, "millions"),
                (1e3, "thousands"),
                (1.0, ""),
            ],
            Quantity::Change => &[(0.01, "%")],
        };
        let fitting = units.iter().find(|(scale, _)| largest >= *scale);
        fitting.or(units.last()).copied().unwrap_or((1.0, ""))
    }
}

/// Returns the smallest of 1, 2 or 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_titled_described_and_asks_for_no_other_file() {
        let mut svg = Svg::default();
        svg.text((1.0, 2.0), Anchor::Start, "small", "a < b");
        let document = svg.document("x", 100.0, "Title & more", "Described");
        for part in [
            r#"aria-labelledby="x-title x-desc""#,
            r#"<title id="x-title">Title &amp; more</title>"#,
            r#"<desc id="x-desc">Described</desc>"#,
            "prefers-color-scheme:dark",
            r#"class="small">a &lt; b</text>"#,
        ] {
            assert!(document.contains(part), "no {part} in {document}");
        }
        assert_eq!(document.matches("http").count(), 1, "the name space alone");
    }

    fn labels(low: f64, high: f64) -> (Vec<String>, &'static str) {
        let axis = Axis::new(Quantity::Time, Scale::new(low, high), 0.0..100.0);
        let labels = axis.ticks().into_iter().map(|(_, label)| label).collect();
        (labels, axis.unit().1)
    }

    #[test]
    fn ticks_stand_at_round_values_in_a_unit_that_fits() {
        let text = |of: &[&str]| of.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (found, unit) = labels(99.7, 101.2);
        assert_eq!(
            (found, unit),
            (
                text(&[
                    "99.8", "100.0", "100.2", "100.4", "100.6", "100.8", "101.0", "101.2"
                ]),
                "ns"
            )
        );
        let (found, unit) = labels(0.0, 1_050_000.0);
        assert_eq!(
            (found, unit),
            (text(&["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]), "ms")
        );
        let (found, unit) = labels(0.3812, 0.4288);
        assert_eq!((found, unit), (text(&["390", "400", "410", "420"]), "ps"));
    }

    #[test]
    fn what_lies_beyond_stays_at_the_end_and_an_axis_may_run_upwards() {
        let (below, above) = (200.0, 100.0);
        let axis = Axis::new(Quantity::Time, Scale::new(10.0, 20.0), below..above);
        let places = [5.0, 10.0, 15.0, 99.0].map(|value| axis.place(value));
        assert_eq!(places, [200.0, 200.0, 150.0, 100.0]);
    }

    #[test]
    fn changes_are_labeled_in_percent() {
        let axis = Axis::new(Quantity::Change, Scale::new(-0.021, 0.041), 0.0..62.0);
        let ticks = axis.ticks().into_iter();
        let ticks: Vec<String> = ticks
            .map(|(place, label)| format!("{label} at {place:.0}"))
            .collect();
        let expected = "−2 at 1, −1 at 11, 0 at 21, 1 at 31, 2 at 41, 3 at 51, 4 at 61";
        assert_eq!(ticks.join(", "), expected);
        assert_eq!(axis.unit(), (0.01, "%"));
    }

    #[test]
    fn an_axis_without_length_has_no_ticks() {
        assert_eq!(labels(1.0, 1.0).0, [""; 0]);
    }
}
