//! Split violins: each row compares two benchmarks, one above and one below a line, such as writing and reading.

use std::io::{self, Write};

use super::panels;
use super::svg::{Anchor, Svg};
use crate::report::units;
use perfcheck_analysis::compare::Shape;
use perfcheck_analysis::model::{Metric, RunId};

/// The content of a picture of split violins.
#[derive(Debug, Clone)]
pub struct SplitPicture<'a> {
    /// The run.
    pub run: RunId,
    /// Names of the series, the upper one first.
    pub series: [&'a str; 2],
    /// The rows.
    pub rows: Vec<SplitRow<'a>>,
    /// A note below the title.
    pub note: Option<String>,
}

/// Two benchmarks in one row.
#[derive(Debug, Clone)]
pub struct SplitRow<'a> {
    /// Common part of their ids.
    pub name: &'a str,
    /// Metric of their samples.
    pub metric: &'a Metric,
    /// Upper and lower half; `None` if there is no such benchmark with samples.
    pub halves: [Option<Shape>; 2],
}

/// Writes the picture as one SVG file.
pub fn write_split(writer: &mut dyn Write, picture: &SplitPicture<'_>) -> io::Result<()> {
    let [upper, lower] = picture.series;
    let mut svg = Svg::default();
    let title = format!("{upper} (above) and {lower} (below), run {}", picture.run);
    svg.text(
        (16.0, 30.0),
        Anchor::Start,
        "head",
        &units::short_id(&title),
    );
    let mut bottom = 48.0;
    if let Some(note) = &picture.note {
        svg.text((16.0, 52.0), Anchor::Start, "small faint", note);
        bottom = 64.0;
    }
    for row in &picture.rows {
        bottom = panels::draw_split_violin(&mut svg, row.name, &row.halves, row.metric, bottom);
    }
    let name = format!("run-{}-split", picture.run);
    let document = svg.document(&name, bottom, &title, &describe(picture));
    writer.write_all(document.as_bytes())
}

/// Describes the picture in words.
fn describe(picture: &SplitPicture<'_>) -> String {
    let rows = picture.rows.iter().map(|row| {
        let halves = row.halves.iter().zip(picture.series);
        let medians = halves.filter_map(|(half, series)| {
            let shape = half.as_ref()?;
            Some(format!(
                "{series} {}",
                units::format_cost(row.metric, shape.median())
            ))
        });
        format!(
            "{}: medians {}.",
            row.name,
            medians.collect::<Vec<_>>().join(", ")
        )
    });
    let note = picture.note.iter().map(|note| format!("{note}."));
    rows.chain(note).collect::<Vec<_>>().join(" ")
}
