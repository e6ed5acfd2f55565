//! Tests of tables in all formats and terminal widths.

use super::{Cell, Column, Section, SectionRow, Table, TableFormat};
use crate::output::terminal::{TextRole, strip_colors};
use crate::output::units::{self, NO_BREAK};
use perfcheck_analysis::model::Verdict;

fn written(table: &Table, format: TableFormat, columns: usize) -> String {
    let mut bytes = Vec::new();
    table
        .write_as(&mut bytes, format, columns)
        .expect("memory takes everything");
    String::from_utf8(strip_colors(&bytes)).expect("text")
}

fn grid() -> Table {
    let rows = vec![
        vec!["x".into(), Cell::number(1.25, "1.250 ns"), Cell::missing()],
        vec![
            "=cmd()".into(),
            Cell::number(-2.0, "−2"),
            "[a](http://b)".into(),
        ],
    ];
    Table::from_rows(1, &["name", "a|b", "c"].map(str::to_owned), rows)
}

#[test]
fn text_is_aligned_labels_to_the_left_and_values_to_the_right() {
    assert_eq!(
        written(&grid(), TableFormat::Text, usize::MAX),
        "name         a|b              c\nx       1.250 ns              -\n=cmd()        −2  [a](http://b)\n"
    );
}

#[test]
fn markdown_holds_no_markup_of_its_cells() {
    assert_eq!(
        written(&grid(), TableFormat::Markdown, usize::MAX),
        "| name | a\\|b | c |\n| :-- | --: | --: |\n| x | 1.250 ns | - |\n| =cmd() | −2 | \\[a\\](http:&#8203;//b) |\n"
    );
}

#[test]
fn csv_holds_exact_numbers_and_no_formulas() {
    assert_eq!(
        written(&grid(), TableFormat::Csv, usize::MAX),
        "name,a|b,c\r\nx,1.25,\r\n\"'=cmd()\",-2,[a](http://b)\r\n"
    );
}

#[test]
fn values_that_do_not_fit_go_on_below_with_their_labels() {
    assert_eq!(
        written(&grid(), TableFormat::Text, 24),
        "name         a|b\nx       1.250 ns\n=cmd()        −2\n\nname                c\nx                   -\n=cmd()  [a](http://b)\n"
    );
}

#[test]
fn a_terminal_obeys_no_cell_and_every_mark_stands_below_the_others() {
    let cells = [
        Cell::from("1.0").with_mark(TextRole::Verdict(Verdict::Regressed), "*"),
        Cell::from("12.0").with_mark(TextRole::Plain, "(a)"),
        Cell::from("-"),
    ];
    let table = Table::new(vec![
        Column::name("", ["\u{1b}[2J", "b", "c"]),
        Column::number("value", cells),
        Column::fact("", ["end", "", ""]),
    ]);
    assert_eq!(
        written(&table, TableFormat::Text, 80),
        "              value\n\\u{1b}[2J   1.0 *    end\nb          12.0 (a)\nc             -\n"
    );
}

fn ledger() -> Table {
    let verdicts = [
        format!("2{NO_BREAK}regressed, 1{NO_BREAK}new"),
        format!("3{NO_BREAK}new"),
    ];
    Table::new(vec![
        Column::number("run", ["7", "12"]),
        Column::fact("when", ["2026-11-21", "2026-11-22"]),
        Column::name("branch", ["feature/a-long-name-of-a-branch", "main"]).dispensable(1),
        Column::fact("empty", ["", ""]),
        Column::words("verdicts", verdicts),
    ])
}

fn ledger_in(columns: usize) -> String {
    written(&ledger(), TableFormat::Text, columns)
}

#[test]
fn what_fits_is_whole_and_a_column_without_text_is_left_out() {
    insta::assert_snapshot!(ledger_in(usize::MAX), @r"
    run  when        branch                           verdicts
      7  2026-11-21  feature/a-long-name-of-a-branch  2 regressed, 1 new
     12  2026-11-22  main                             3 new
    ");
}

#[test]
fn names_are_shortened_and_words_folded_but_numbers_and_dates_stay() {
    insta::assert_snapshot!(ledger_in(56), @r"
    run  when        branch               verdicts
      7  2026-11-21  feature/a-lo…branch  2 regressed, 1 new
     12  2026-11-22  main                 3 new
    ");
    insta::assert_snapshot!(ledger_in(45), @r"
    run  when        branch         verdicts
      7  2026-11-21  feature/…anch  2 regressed,
                                    1 new
     12  2026-11-22  main           3 new
    ");
}

#[test]
fn where_that_is_not_enough_a_column_is_left_out() {
    insta::assert_snapshot!(ledger_in(40), @r"
    run  when        verdicts
      7  2026-11-21  2 regressed, 1 new
     12  2026-11-22  3 new
    ");
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for columns in 31..90 {
        for line in ledger_in(columns).lines() {
            assert!(units::width(line) <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn sentences_keep_their_words_and_drawings_become_narrower_before_anything_is_left_out() {
    let drawing = |width: usize| Column::fact(&"-".repeat(width), ["#".repeat(width)]);
    let drawings = Column::from_drawings([20, 10, 5].map(drawing).to_vec()).expect("some");
    let table = Table::new(vec![
        Column::number("n", ["1"]),
        drawings.dispensable(1),
        Column::prose("", ["see /a/path/that/is/whole now and then"]),
    ]);
    let in_columns = |columns| written(&table, TableFormat::Text, columns);
    assert!(in_columns(80).contains(&"#".repeat(20)));
    insta::assert_snapshot!(in_columns(38), @r"
    n  -----
    1  #####  see /a/path/that/is/whole
              now and then
    ");
    insta::assert_snapshot!(in_columns(30), @r"
    n
    1  see /a/path/that/is/whole
       now and then
    ");
}

#[test]
fn sections_have_their_titles_beside_the_headings_and_their_remarks_below() {
    let section = |title: &str, rows| Section {
        title: Some(title.to_owned()),
        rows,
        remarks: vec!["said of it".to_owned()],
    };
    let table = Table::new(vec![
        Column::name("", ["  a", "    b", "all"]),
        Column::number("value", ["1", "2", "3"]),
    ])
    .in_sections(vec![
        section("one", vec![SectionRow::At(0)]),
        section(
            "too long",
            vec![SectionRow::Title("  group/".to_owned()), SectionRow::At(1)],
        ),
        Section {
            rows: vec![SectionRow::At(2)],
            ..Section::default()
        },
    ]);
    insta::assert_snapshot!(written(&table, TableFormat::Text, 80), @r"
    one       value
      a           1
      said of it

    too long  value
      group/
        b         2
      said of it
    all           3
    ");
}
