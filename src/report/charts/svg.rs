//! An SVG document, element by element.

use std::fmt::{Display, Write as _};

use crate::escape;

/// Default width of a picture in its own units. The picture scales to the available room.
pub(super) const WIDTH: f64 = 600.0;

/// Light unless the reader prefers dark. The rules select by class only, because viewers without style sheets of their own support that too.
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

/// The alignment of a text relative to its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A document under construction.
#[derive(Debug)]
pub(super) struct Svg {
    body: String,
    width: f64,
    /// Style rules in addition to those of all pictures.
    style: &'static str,
}

impl Default for Svg {
    fn default() -> Self {
        Self::new(WIDTH, "")
    }
}

impl Svg {
    /// Creates an empty picture with this width and additional style rules.
    pub(super) fn new(width: f64, style: &'static str) -> Self {
        Self {
            body: String::new(),
            width,
            style,
        }
    }

    /// Draws a group of elements. Browsers show `title` when the pointer is on one of them.
    pub(super) fn group(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        let title = escape::xml(title);
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
        let text = escape::xml(text);
        self.element(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" class="{class}">{text}</text>"#
        ));
    }

    /// Draws a path through `points`.
    pub(super) fn line(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let data = path_data(points);
        self.element(format_args!(r#"<path class="{class}" d="{data}"/>"#));
    }

    /// Draws a closed area with corners at `points`.
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

    /// Draws vertical strokes of the same height, in one path.
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

    fn element(&mut self, element: impl Display) {
        let _ = writeln!(self.body, "{element}");
    }

    /// Returns the complete document. `name` makes its element ids distinct from those of other pictures on the same page.
    pub(super) fn document(
        &self,
        name: &str,
        height: f64,
        title: &str,
        description: &str,
    ) -> String {
        let (title, description) = (escape::xml(title), escape::xml(description));
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
}
