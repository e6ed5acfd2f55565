//! The page about a ranking: for each group, a table with a forest plot of the differences from the reference. It has no script.

use std::io::{self, Write};

use super::document::{RANKING_STYLE, RANKING_STYLE_HASH, write_head};
use crate::output::charts::ForestPlot;
use crate::output::messages::{RankFindings, RankedGroup, RankedRow};
use crate::output::text::compare::{choose_color, describe_ranking, describe_standing};
use crate::output::units;
use crate::sanitize::{html, one_line};
use perfcheck_analysis::compare::{Estimate, Standing};

/// The difference of the reference from itself.
const NO_CHANGE: Estimate = Estimate {
    estimate: 0.0,
    lower: 0.0,
    upper: 0.0,
};

/// Writes the page about a ranking as one HTML document. `workspace` is the name shown for the workspace.
pub fn write_ranking_page(
    writer: &mut dyn Write,
    found: &RankFindings,
    workspace: &str,
) -> io::Result<()> {
    let title = one_line(&format!("{workspace}: ranking"));
    let policy = format!("style-src '{RANKING_STYLE_HASH}'");
    write_head(writer, &title, RANKING_STYLE, &policy)?;
    writeln!(writer, "<body>\n<h1>{}</h1>", html(&title))?;
    for group in &found.groups {
        write_group(writer, group)?;
    }
    let remarks = found.remarks.iter().cloned();
    for sentence in describe_ranking(found).into_iter().chain(remarks) {
        writeln!(writer, "<p>{}</p>", escape(&sentence))?;
    }
    writeln!(writer, "</body>\n</html>")
}

/// Escapes foreign text, so that it is on one line.
fn escape(text: &str) -> String {
    html(&one_line(text))
}

fn write_group(writer: &mut dyn Write, group: &RankedGroup) -> io::Result<()> {
    if !group.name.is_empty() {
        writeln!(writer, "<h2>{}</h2>", escape(&group.name))?;
    }
    let changes = group.rows.iter();
    let changes = changes.filter_map(|row| row.change.zip(row.noise_threshold));
    let plot = ForestPlot::from_changes(&changes.collect::<Vec<_>>());
    write!(
        writer,
        "<div class=\"wide\">\n<table>\n<thead><tr><th scope=\"col\">Benchmark</th>"
    )?;
    for heading in ["Rank", "Time", "Difference", "Interval"] {
        write!(writer, "<th scope=\"col\" class=\"number\">{heading}</th>")?;
    }
    writeln!(
        writer,
        "<th scope=\"col\" class=\"plot\">Difference with interval, %\n{}</th><th scope=\"col\">Result</th></tr></thead>\n<tbody>",
        plot.draw_axis()
    )?;
    for row in &group.rows {
        write_row(writer, row, &plot)?;
    }
    writeln!(writer, "</tbody>\n</table>\n</div>")
}

fn write_row(writer: &mut dyn Write, row: &RankedRow, plot: &ForestPlot) -> io::Result<()> {
    let rank = row.rank.map(|rank| rank.to_string());
    let value = row.value_ns.map(|value| units::value(&row.metric, value));
    let change = row.change.map(|change| units::change(change.estimate));
    let interval = row.change;
    let interval = interval.map(|change| units::change_interval(change.lower, change.upper));
    write!(writer, "<tr><th scope=\"row\">{}</th>", escape(&row.label))?;
    for text in [rank, value, change, interval] {
        let text = escape(&units::or_dash(text));
        write!(writer, "<td class=\"number\">{text}</td>")?;
    }
    let drawn = match row.change {
        Some(change) => plot.draw_change(&change, row.noise_threshold.unwrap_or_default()),
        None if row.standing == Standing::Reference => plot.draw_change(&NO_CHANGE, 0.0),
        None => String::new(),
    };
    let color = choose_color(row).word();
    writeln!(
        writer,
        "<td class=\"plot {color}\">{drawn}</td><td class=\"{color}\">{}</td></tr>",
        describe_standing(row)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::layout::TableFormat;
    use crate::output::text::write_ranking;
    use crate::output::view::MessageFormat;
    use perfcheck_analysis::compare::Note;
    use perfcheck_analysis::model::{BenchmarkKey, Metric, Side};

    fn row(id: &str, rank: Option<usize>, standing: Standing) -> RankedRow {
        RankedRow {
            group: String::new(),
            key: BenchmarkKey {
                package: "words".into(),
                target: "parse".into(),
                id: id.into(),
            },
            label: id.into(),
            rank,
            standing,
            metric: Metric::Time,
            value_ns: rank.map(|_| 100.0),
            change: None,
            noise_threshold: None,
            slow_side: None,
            rounds: None,
            layouts: None,
            seconds: None,
            skipped: None,
            failure: None,
            notes: Vec::new(),
        }
    }

    fn compared(id: &str, rank: usize, standing: Standing, interval: [f64; 3]) -> RankedRow {
        let [lower, estimate, upper] = interval;
        RankedRow {
            value_ns: Some(100.0 * (1.0 + estimate)),
            change: Some(Estimate {
                estimate,
                lower,
                upper,
            }),
            noise_threshold: Some(0.01),
            layouts: Some(20),
            ..row(id, Some(rank), standing)
        }
    }

    fn group(name: &str, rows: Vec<RankedRow>) -> RankedGroup {
        RankedGroup {
            name: name.into(),
            reference: rows[0].key.clone(),
            replaced: None,
            start_up_ns: None,
            rows,
        }
    }

    fn findings(groups: Vec<RankedGroup>) -> RankFindings {
        RankFindings {
            groups,
            significance_level: 0.01,
            left_out: 0,
            remarks: vec!["The machine is <busy>.".into()],
            seed: 7,
            exit_code: 0,
        }
    }

    /// Returns the body of the page about these groups.
    fn written(groups: Vec<RankedGroup>) -> String {
        written_page(&findings(groups))
    }

    fn written_page(found: &RankFindings) -> String {
        let mut page = Vec::new();
        write_ranking_page(&mut page, found, "a & b").expect("memory takes everything");
        let page = String::from_utf8(page).expect("text");
        let (head, body) = page.split_once("<body>").expect("a document");
        assert!(head.contains("<title>a &amp; b: ranking</title>"), "{head}");
        body.to_owned()
    }

    #[test]
    fn each_group_is_a_table_with_a_forest_plot_on_an_axis_of_its_own() {
        let fast = vec![
            row("fast", Some(1), Standing::Reference),
            compared("same", 1, Standing::AsFast, [-0.004, 0.001, 0.006]),
            compared("slower", 3, Standing::Slower, [0.015, 0.02, 0.025]),
            row("broken", None, Standing::Failed),
        ];
        let slow = vec![
            compared("quick", 1, Standing::Faster, [-0.35, -0.3, -0.25]),
            row("named", Some(2), Standing::Reference),
            compared("open", 2, Standing::Open, [-0.1, 0.02, f64::INFINITY]),
        ];
        let groups = vec![group("sort/*/10", fast), group("sort/*/200", slow)];
        insta::assert_snapshot!(written(groups));
    }

    #[test]
    fn a_benchmark_that_dwarfs_the_others_is_an_arrow_at_the_end_of_their_axis() {
        let page = |largest: f64| {
            written(vec![group(
                "",
                vec![
                    row("first", Some(1), Standing::Reference),
                    compared("second", 2, Standing::Slower, [0.01, 0.02, 0.03]),
                    compared("third", 3, Standing::Slower, [0.03, 0.04, 0.05]),
                    compared("last", 4, Standing::Slower, [largest; 3]),
                ],
            )])
        };
        let arrow = "<path class=\"dots\"";
        let near = page(0.49);
        assert!(!near.contains(arrow), "{near}");
        assert!(near.contains(">40</text>"), "{near}");
        let far = page(0.51);
        assert!(far.contains(arrow), "{far}");
        assert!(far.contains(">4</text>"), "{far}");
    }

    #[test]
    fn every_form_says_why_a_benchmark_is_open_or_failed() {
        let gap = Note::LoneFloor {
            side: Side::Candidate,
            gap: 0.25,
        };
        let rows = vec![
            row("first", Some(1), Standing::Reference),
            RankedRow {
                notes: vec![gap, Note::SlowPathSuspected],
                ..compared("open", 1, Standing::Open, [0.05, 0.07, 0.09])
            },
            RankedRow {
                notes: vec![Note::ChangeDrifts],
                ..compared("slower", 3, Standing::Slower, [0.05, 0.07, 0.09])
            },
            RankedRow {
                failure: Some("panicked at <benches>: no\nmemory".into()),
                ..row("broken", None, Standing::Failed)
            },
            RankedRow {
                skipped: Some("needs AVX-512".into()),
                ..row("declines", None, Standing::Skipped)
            },
        ];
        let found = findings(vec![group("", rows)]);
        let sentences = describe_ranking(&found);
        assert_eq!(
            sentences[2..],
            [
                "`open`: the fastest processes of this benchmark differ by 25.0 %, so no smaller change is reported: measure again when the host is quieter; the fastest samples are about equal, but other samples may have become slower (measure more rounds to find out)",
                "`broken`: panicked at <benches>: no\nmemory",
                "`declines` was skipped: needs AVX-512",
            ]
        );
        let written = |format| {
            let mut text = Vec::new();
            write_ranking(&mut text, &found, MessageFormat::Human, format, usize::MAX)
                .expect("memory takes everything");
            String::from_utf8(text).expect("text")
        };
        for text in [
            written(TableFormat::Text),
            written(TableFormat::Markdown),
            written_page(&found),
        ] {
            for words in [
                "differ by 25.0 %",
                "may have become slower",
                "panicked at",
                "needs AVX",
            ] {
                assert!(text.contains(words), "no {words} in {text}");
            }
            assert!(!text.contains("halves of the rounds"), "{text}");
        }
    }

    #[test]
    fn names_and_remarks_are_text() {
        let id = "<script>alert(1)</script>\"'&\u{202e}\u{1b}[1m";
        let rows = vec![
            row(id, Some(1), Standing::Reference),
            compared(id, 2, Standing::Slower, [0.03, 0.04, 0.05]),
        ];
        let page = written(vec![group(id, rows)]);
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains(['\u{202e}', '\u{1b}']), "{page}");
        let name = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u{202e}\\u{1b}[1m";
        assert_eq!(page.matches(name).count(), 3, "{page}");
        assert!(
            page.contains("<p>The machine is &lt;busy&gt;.</p>"),
            "{page}"
        );
    }
}
