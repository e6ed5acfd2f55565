//! Differential flame graphs, which show both builds of a benchmark on one scale. The width of a function is the number of instructions that an
//! iteration executes in it and in the functions that it calls. The color shows how the builds differ.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::svg::{Anchor, Svg};
use crate::output::messages::{FlameGraphWritten, JsonMessage, write_message};
use crate::output::units;
use crate::output::view::MessageFormat;
use perfcheck_analysis::compare::{CallFrame, CallTree};
use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId, Side};

/// The contents of the two flame graphs of a benchmark.
#[derive(Debug, Clone, Copy)]
pub struct FlameGraph<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// Numbers of the runs whose builds are shown.
    pub runs: BySide<RunId>,
    /// The instructions that an iteration executes in each build, by call stack.
    pub tree: &'a CallTree,
}

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 16.0;
const RIGHT: f64 = WIDTH - LEFT;
/// Height of a frame, which stands for a function.
const ROW: f64 = 18.0;
/// Distance from the top of a frame to the base line of its name.
const BASE_LINE: f64 = 13.0;
/// Height of the heading of a graph.
const HEAD: f64 = 28.0;
/// Distance between the graphs.
const GAP: f64 = 22.0;
/// Width of a letter in a frame. No common font of the class `code` has wider letters, so a name never leaves its frame.
const LETTER: f64 = 7.3;
/// Approximate width of a letter in the legend. It may be too small for wide fonts, because the words of the legend may get closer together.
const LEGEND_LETTER: f64 = 6.6;
/// Total distance of a name from the left and right edges of its frame.
const PADDING: f64 = 6.0;
/// Minimum number of letters of a name in a frame. A shorter one would tell nothing.
const FEWEST_LETTERS: usize = 4;
/// Minimum width of a frame, as a share of the picture. Narrower frames are not drawn, only counted.
const NARROWEST: f64 = 0.001;

/// Style rules with the colors of frames. A color is strong if the function itself differs between the builds, and pale if only functions that it
/// calls do.
const STYLE: &str = "\
.code{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}\
.more,.calls-more,.same,.calls-fewer,.fewer{stroke:#fff;stroke-width:.75}\
.more{fill:#fa8072}.calls-more{fill:#ffd8d3}.same{fill:#e4e7eb}.calls-fewer{fill:#d3e5fd}.fewer{fill:#79b4f6}\
@media(prefers-color-scheme:dark){.more,.calls-more,.same,.calls-fewer,.fewer{stroke:#0d1117}\
.more{fill:#b3261e}.calls-more{fill:#582824}.same{fill:#30363d}.calls-fewer{fill:#1f3a5f}.fewer{fill:#1a5fb4}}";

/// The style classes of the colors, each with its meaning. The legend shows them after [`LEGEND_HEAD`].
const LEGEND: [(&str, &str); 5] = [
    ("more", "more in the function itself"),
    ("calls-more", "more in its callees"),
    ("same", "no change"),
    ("calls-fewer", "fewer in its callees"),
    ("fewer", "fewer in the function itself"),
];
const LEGEND_HEAD: &str = "Instructions in the candidate:";

/// Writes the graphs of both builds as one SVG file.
pub fn write_flame_graph(writer: &mut dyn Write, graph: &FlameGraph<'_>) -> io::Result<()> {
    let FlameGraph { key, runs, tree } = graph;
    let all = &tree.instructions;
    let mut svg = Svg::new(WIDTH, STYLE);
    svg.text(
        (LEFT, 30.0),
        Anchor::Start,
        "head",
        &units::short_id(&key.id),
    );
    let target = units::short_id(&format!("{}/{}", key.package, key.target));
    let heading = format!(
        "{target}, run {} compared with run {}; instructions per iteration: {}",
        runs.candidate,
        runs.base,
        format_change(all)
    );
    svg.text((LEFT, 52.0), Anchor::Start, "small faint", &heading);
    draw_legend(&mut svg, 64.0);
    let mut top = 92.0;
    let mut left_out = 0;
    for side in Side::BOTH {
        let placed = FrameLayout::from_tree(tree, side);
        let name = match side {
            Side::Base => "Base",
            Side::Candidate => "Candidate",
        };
        let text = format!(
            "{name}, run {}: {} instructions per iteration",
            runs.get(side),
            units::count(*all.get(side))
        );
        svg.text((LEFT, top + 16.0), Anchor::Start, "", &text);
        let rows = placed.frames.iter().map(|frame| frame.depth + 1).max();
        let bottom = top + HEAD + rows.unwrap_or(0) as f64 * ROW;
        for frame in &placed.frames {
            frame.draw(&mut svg, tree, bottom);
        }
        left_out += placed.left_out;
        top = bottom + GAP;
    }
    if left_out > 0 {
        let frames = units::counted(left_out, "frame");
        let verb = if left_out == 1 { "is" } else { "are" };
        let text = format!(
            "{frames} narrower than {} of the picture {verb} not drawn",
            units::percent(NARROWEST)
        );
        svg.text((LEFT, top), Anchor::Start, "small faint", &text);
        top += GAP;
    }
    let name = format!("flame-{}-{}", runs.base, runs.candidate);
    let title = format!(
        "{target} {}, runs {} and {}",
        key.id, runs.base, runs.candidate
    );
    let description = format!(
        "Flame graphs of the base (above) and the candidate (below). Each function is on top of its caller. The width of a function is the number of instructions that it and its callees execute. Instructions per iteration: {}.",
        format_change(all)
    );
    let document = svg.document(&name, top, &title, &description);
    writer.write_all(document.as_bytes())
}

/// Reports the file to which the graphs were written.
pub fn write_flame_graph_written(
    writer: &mut dyn Write,
    graph: &FlameGraph<'_>,
    path: &str,
    bytes: usize,
    format: MessageFormat,
) -> io::Result<()> {
    let all = graph.tree.instructions;
    if format == MessageFormat::Json {
        let message = FlameGraphWritten {
            run: graph.runs.candidate,
            base_run: graph.runs.base,
            benchmark: graph.key,
            path,
            bytes,
            instructions: all,
        };
        return write_message(writer, JsonMessage::FlameGraphWritten(message));
    }
    writeln!(
        writer,
        "Wrote {}, {}; instructions per iteration: {}.",
        units::escape_line(path),
        units::bytes(bytes as f64),
        format_change(&all)
    )
}

/// Draws the legend: a square of each color with its meaning.
fn draw_legend(svg: &mut Svg, top: f64) {
    let mut left = LEFT;
    let text = |svg: &mut Svg, left: f64, text: &str| {
        svg.text((left, top + 12.0), Anchor::Start, "small faint", text);
        left + text.len() as f64 * LEGEND_LETTER
    };
    left = text(svg, left, LEGEND_HEAD) + 8.0;
    for (class, meaning) in LEGEND {
        svg.rectangle(class, (left, top), (left + 14.0, top + 14.0));
        left = text(svg, left + 20.0, meaning) + 16.0;
    }
}

/// Describes how instructions changed: `24806 → 25810, +1004 (+4.05 %)`.
fn format_change(instructions: &BySide<f64>) -> String {
    let BySide { base, candidate } = *instructions;
    if base == candidate {
        return format!("{}, as before", units::count(base));
    }
    let more = format_difference(instructions);
    format!(
        "{} → {}, {more}",
        units::count(base),
        units::count(candidate)
    )
}

/// Formats the difference of instructions between the builds: `+1004 (+4.05 %)`.
fn format_difference(instructions: &BySide<f64>) -> String {
    let BySide { base, candidate } = *instructions;
    if base == candidate {
        return "as before".to_owned();
    }
    let more = units::signed_count(candidate - base).replace('-', "−");
    if base > 0.0 {
        format!("{more} ({})", units::change(candidate / base - 1.0))
    } else {
        more
    }
}

/// The frames of one build, each with its position.
#[derive(Default)]
struct FrameLayout<'t> {
    frames: Vec<PlacedFrame<'t>>,
    /// Number of frames that are not drawn because they are too narrow.
    left_out: usize,
}

/// A frame with its position in the graph.
struct PlacedFrame<'t> {
    frame: &'t CallFrame,
    left: f64,
    width: f64,
    /// Number of frames below this one, which are its callers.
    depth: usize,
}

impl<'t> FrameLayout<'t> {
    /// Places all frames of the build `side`. Both builds have the same scale, so that their widths can be compared.
    fn from_tree(tree: &'t CallTree, side: Side) -> Self {
        let most = tree.instructions.base.max(tree.instructions.candidate);
        let scale = (RIGHT - LEFT) / most.max(f64::MIN_POSITIVE);
        let mut placed = Self::default();
        placed.place_frames(&tree.frames, side, scale, (LEFT, 0));
        placed
    }

    /// Places frames next to each other and, above each of them, the functions that it calls.
    fn place_frames(
        &mut self,
        frames: &'t [CallFrame],
        side: Side,
        scale: f64,
        (mut left, depth): (f64, usize),
    ) {
        for frame in frames {
            let width = frame.whole.get(side) * scale;
            if width >= (RIGHT - LEFT) * NARROWEST {
                self.frames.push(PlacedFrame {
                    frame,
                    left,
                    width,
                    depth,
                });
            } else if width > 0.0 {
                self.left_out += 1;
            }
            // Visit the callees of a narrow frame too, so that they are counted.
            self.place_frames(&frame.callees, side, scale, (left, depth + 1));
            left += width;
        }
    }
}

impl PlacedFrame<'_> {
    fn draw(&self, svg: &mut Svg, tree: &CallTree, bottom: f64) {
        let top = bottom - (self.depth + 1) as f64 * ROW;
        let CallFrame {
            name, whole, own, ..
        } = self.frame;
        let class = match (
            tree.compare_instructions(own),
            tree.compare_instructions(whole),
        ) {
            (Ordering::Greater, _) => "more",
            (Ordering::Less, _) => "fewer",
            (Ordering::Equal, Ordering::Greater) => "calls-more",
            (Ordering::Equal, Ordering::Less) => "calls-fewer",
            (Ordering::Equal, Ordering::Equal) => "same",
        };
        svg.group(&self.tooltip(tree), |svg| {
            let corners = ((self.left, top), (self.left + self.width, top + ROW));
            svg.rectangle(class, corners.0, corners.1);
            let letters = ((self.width - PADDING) / LETTER) as usize;
            if let Some(label) = shorten_name(name, letters) {
                let place = (self.left + PADDING / 2.0, top + BASE_LINE);
                svg.text(place, Anchor::Start, "code", &label);
            }
        });
    }

    /// Returns the text that a browser shows when the pointer is on the frame.
    fn tooltip(&self, tree: &CallTree) -> String {
        let CallFrame {
            name, whole, own, ..
        } = self.frame;
        let shares = |sides: &BySide<f64>| {
            let of = |side: Side| {
                let share = sides.get(side) / tree.instructions.get(side).max(f64::MIN_POSITIVE);
                let count = units::count(*sides.get(side));
                format!("{count} ({})", units::rounded_percent(share))
            };
            let (base, candidate) = (of(Side::Base), of(Side::Candidate));
            format!("{base} → {candidate}, {}", format_difference(sides))
        };
        format!(
            "{name}\nInstructions per iteration, with callees: {}\nWithout callees: {}",
            shares(whole),
            shares(own)
        )
    }
}

/// Shortens the name of a function to at most this number of letters. Keeps the last parts of its path if they fit, and otherwise the beginning of
/// the last part. Returns `None` if there is too little room.
fn shorten_name(name: &str, letters: usize) -> Option<String> {
    let name = units::escape_line(name);
    let starts = part_starts(&name);
    let last = starts.last().copied().unwrap_or(0);
    // The second way keeps the last two parts, so that a closure is shown with the function around it.
    let before = starts.len().checked_sub(2).map_or(0, |at| starts[at]);
    let mut ways = [0, before, last].into_iter().map(|start| &name[start..]);
    let fitting = ways.find(|way| units::width(way) <= letters);
    match fitting {
        Some(way) => Some(way.to_owned()),
        None if letters < FEWEST_LETTERS => None,
        None => {
            let begun = units::take_columns(name[last..].chars(), letters - 1);
            Some(format!("{begun}…"))
        }
    }
}

/// Returns the indices at which the parts of a path begin. A `::` within brackets separates no parts.
fn part_starts(name: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && before == ':' => starts.push(at + 1),
            _ => {}
        }
        before = c;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::StackCounts;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn counted(stacks: &[(&[&str], u64)]) -> StackCounts {
        let stack = |(frames, count): &(&[&str], u64)| {
            let frames = frames.iter().map(|name| (*name).to_owned());
            (frames.collect(), *count)
        };
        StackCounts {
            iterations: 1,
            instructions: stacks.iter().map(stack).collect(),
        }
    }

    fn drawn(tree: &CallTree, id: &str) -> String {
        let key = BenchmarkKey {
            package: "planted".into(),
            target: "costs".into(),
            id: id.into(),
        };
        let graph = FlameGraph {
            key: &key,
            runs: BySide {
                base: RunId(1),
                candidate: RunId(2),
            },
            tree,
        };
        let mut bytes = Vec::new();
        write_flame_graph(&mut bytes, &graph).expect("memory takes everything");
        String::from_utf8(bytes).expect("text")
    }

    /// A tree in which one function executes more instructions, one is new, one was removed, and one is too narrow to draw.
    fn changed() -> CallTree {
        const LOOP: &str = "perfcheck::timing::time_loop";
        CallTree::from_stacks(&BySide {
            base: counted(&[
                (&[LOOP], 100),
                (
                    &[LOOP, "<words::Words<'_> as core::iter::Iterator>::next"],
                    300,
                ),
                (&[LOOP, "words::count"], 500),
                (&[LOOP, "words::count", "words::old"], 50),
                (&[LOOP, "words::rare"], 1),
            ]),
            candidate: counted(&[
                (&[LOOP], 100),
                (
                    &[LOOP, "<words::Words<'_> as core::iter::Iterator>::next"],
                    300,
                ),
                (&[LOOP, "words::count"], 700),
                (&[LOOP, "words::count", "words::new"], 100),
                (&[LOOP, "words::rare"], 1),
            ]),
        })
    }

    #[test]
    fn both_builds_are_drawn_on_one_scale_with_what_differs_in_colour() {
        let document = drawn(&changed(), "count/100");
        let is_shown = |line: &&str| !line.starts_with("<style>");
        let shown: Vec<&str> = document.lines().filter(is_shown).collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn names_are_escaped_and_the_document_is_well_formed() {
        let name = "<a<'_> as b>::c\u{1b}[2J\"]]>&\u{202e}";
        let side = || counted(&[(&[name], 100)]);
        let tree = CallTree::from_stacks(&BySide {
            base: side(),
            candidate: side(),
        });
        let document = drawn(&tree, "<script>alert(1)</script>");
        let read = roxmltree::Document::parse(&document).expect("XML");
        let scripts = read
            .descendants()
            .filter(|node| node.has_tag_name("script"));
        assert_eq!(scripts.count(), 0);
        let mut titles = read.descendants().filter(|node| node.has_tag_name("title"));
        let shown = r#"<a<'_> as b>::c\u{1b}[2J"]]>&\u{202e}"#;
        let has_name = |title: roxmltree::Node<'_, '_>| {
            title.text().is_some_and(|text| text.starts_with(shown))
        };
        assert!(titles.any(has_name), "{document}");
        assert_eq!(document.matches("http").count(), 1, "the name space alone");
    }

    #[test]
    fn a_name_is_shortened_to_what_tells_most_of_it() {
        let name = "<alloc::vec::Vec<u8> as core::iter::Extend<&u8>>::extend::<fn(u8) -> u8>";
        for (name, letters, shown) in [
            ("words::count", 12, Some("words::count")),
            ("words::count", 11, Some("count")),
            ("a::words::count", 12, Some("words::count")),
            ("words::count", 4, Some("cou…")),
            ("words::count", 3, None),
            ("a::b::{{closure}}", 14, Some("b::{{closure}}")),
            (name, 40, Some("extend::<fn(u8) -> u8>")),
            ("größe", 5, Some("größe")),
            ("数え上げる", 6, Some("数え…")),
            ("", 5, Some("")),
        ] {
            assert_eq!(
                shorten_name(name, letters).as_deref(),
                shown,
                "{name} in {letters}"
            );
        }
    }

    #[test]
    fn where_a_side_executes_nothing_the_other_one_is_drawn() {
        let tree = CallTree::from_stacks(&BySide {
            base: counted(&[]),
            candidate: counted(&[(&["words::count"], 10)]),
        });
        let document = drawn(&tree, "count");
        assert!(
            document.contains("instructions per iteration: 0 → 10, +10<"),
            "{document}"
        );
        assert!(
            !document.contains("NaN") && !document.contains("inf"),
            "{document}"
        );
    }

    fn stacks() -> impl Strategy<Value = StackCounts> {
        let stack = proptest::collection::vec("[a-c]{1,40}", 1..6);
        proptest::collection::btree_map(stack, 1..100_000_u64, 1..20).prop_map(
            |instructions: BTreeMap<Vec<String>, u64>| StackCounts {
                iterations: 1,
                instructions,
            },
        )
    }

    proptest! {
        /// Callees are drawn next to each other within the width of their caller, and no label is wider than its frame.
        #[test]
        fn frames_stand_on_their_callers(base in stacks(), candidate in stacks()) {
            let tree = CallTree::from_stacks(&BySide { base, candidate });
            for side in Side::BOTH {
                let placed = FrameLayout::from_tree(&tree, side).frames;
                for row in 0..6 {
                    let of_row = || placed.iter().filter(|frame| frame.depth == row);
                    for (one, next) in of_row().zip(of_row().skip(1)) {
                        prop_assert!(one.left + one.width <= next.left + 1e-6);
                    }
                    for frame in of_row().filter(|_| row > 0) {
                        let is_below = |below: &&PlacedFrame<'_>| {
                            below.depth + 1 == row
                                && below.left <= frame.left + 1e-6
                                && frame.left + frame.width <= below.left + below.width + 1e-6
                        };
                        prop_assert!(placed.iter().any(|below| is_below(&below)));
                    }
                }
                for frame in placed {
                    prop_assert!(frame.left >= LEFT && frame.left + frame.width <= RIGHT + 1e-6);
                    let letters = ((frame.width - PADDING) / LETTER) as usize;
                    let label = shorten_name(&frame.frame.name, letters).unwrap_or_default();
                    prop_assert!(units::width(&label) <= letters);
                }
            }
        }
    }
}
