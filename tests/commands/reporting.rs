//! `report`: where a page is written, which runs it shows, and that its numbers equal those of other commands.

use serde_json::Value;
use std::fs;

use crate::commands::scripted::{steady, stored};
use crate::support::{Finished, Machine};

/// Makes three runs. In the last one, `text` is slower.
fn runs(machine: &Machine) {
    steady(machine, &[]).run().expect_code(0);
    steady(machine, &[("memory", 101.0)]).run();
    steady(machine, &[("text", 200.0)]).run().expect_code(1);
}

/// Returns the data that an HTML page contains as JSON for its script.
#[track_caller]
fn data(page: &str) -> Value {
    let (_, rest) = page
        .split_once("<script type=\"application/json\" id=\"data\">")
        .expect("the data");
    let (data, _) = rest.split_once("</script>").expect("their end");
    serde_json::from_str(data).expect("JSON")
}

#[track_caller]
fn page(machine: &Machine, words: &[&str]) -> Value {
    let mut all = vec!["report"];
    all.extend(words);
    all.extend(["--report", "html"]);
    data(&stored(machine, &all).run().expect_code(0).stdout)
}

#[track_caller]
fn of<'v>(page: &'v Value, id: &str) -> &'v Value {
    let benchmarks = page["benchmarks"].as_array().expect("a list");
    let found = benchmarks.iter().find(|one| one["id"] == id);
    found.unwrap_or_else(|| panic!("nothing of {id:?} in {page}"))
}

fn messages(machine: &Machine, words: &[&str], reason: &str) -> Vec<Value> {
    let shown = stored(machine, words).args(["--message-format", "json"]);
    shown.run().messages(reason)
}

/// Asserts that a number on a page equals the exact one in its eight digits.
#[track_caller]
fn same(on_page: &Value, exact: &Value, what: &str) {
    match (on_page.as_f64(), exact.as_f64()) {
        (Some(a), Some(b)) => assert_eq!(format!("{a:.7e}"), format!("{b:.7e}"), "{what}"),
        (None, None) => {}
        _ => panic!("{what}: {on_page} is not {exact}"),
    }
}

#[track_caller]
fn same_estimate(on_page: &Value, exact: &Value, what: &str) {
    for (index, name) in ["estimate", "lower", "upper"].iter().enumerate() {
        same(&on_page[index], &exact[*name], &format!("{what}, {name}"));
    }
}

#[test]
fn slopes_quantiles_and_intervals_of_a_page_are_those_of_show_stats() {
    let machine = Machine::new();
    runs(&machine);
    let page = page(&machine, &[]);
    for side in ["candidate", "base"] {
        for id in ["arithmetic", "memory", "text"] {
            let found = &of(&page, id)[side];
            let run = found["run"].to_string();
            let words = ["show", run.as_str(), id, "--stats"];
            let shown = messages(&machine, &words, "benchmark-statistics");
            let stats = &shown[0]["statistics"];
            // The page's script has the same names in `ESTIMATES_OF` and `NUMBERS_OF`.
            let estimates = [
                "mean_ns",
                "mean_over_processes_ns",
                "mean_bca_ns",
                "median_ns",
                "median_of_processes_ns",
                "std_dev_ns",
                "median_abs_dev_ns",
                "slope_ns",
            ];
            for (index, name) in estimates.iter().enumerate() {
                let exact = stats.get(name).expect("a member");
                same_estimate(&found["estimates"][index], exact, &format!("{id} {name}"));
            }
            assert!(stats["slope_ns"]["estimate"].is_number());
            for (index, p) in ["p5", "p25", "p75", "p95", "p99"].iter().enumerate() {
                let exact = &stats["percentiles_ns"][*p];
                assert!(exact.is_number(), "{stats}");
                same(&found["percentiles"][index], exact, &format!("{id} {p}"));
            }
            let numbers = [
                "samples",
                "processes",
                "min_ns",
                "max_ns",
                "cv",
                "r_squared",
                "std_err_ns",
            ];
            for (index, name) in numbers.iter().enumerate() {
                let exact = stats.get(name).expect("a member");
                same(&found["numbers"][index], exact, &format!("{id} {name}"));
            }
        }
    }
}

#[test]
fn a_page_about_two_runs_says_what_compare_says() {
    let machine = Machine::new();
    runs(&machine);
    let page = page(&machine, &["1", "3"]);
    let compared = messages(&machine, &["compare", "1", "3"], "benchmark-compared");
    assert_eq!(compared.len(), 3);
    for message in &compared {
        let id = message["benchmark"]["id"].as_str().expect("an id");
        let found = of(&page, id);
        assert_eq!(found["verdict"], message["verdict"]);
        same_estimate(&found["compared"]["change"], &message["change"], id);
        same_estimate(&found["compared"]["mean"], &message["change_of_mean"], id);
        same(&found["compared"]["p"], &message["p_value"], id);
        same(
            &found["compared"]["threshold"],
            &message["noise_threshold"],
            id,
        );
    }
    assert_eq!(of(&page, "text")["verdict"], "regressed");
}

#[test]
fn a_page_tells_how_a_verdict_came_about_as_explain_does() {
    let machine = Machine::new();
    runs(&machine);
    let page = page(&machine, &["3"]);
    let explained = messages(&machine, &["explain", "text", "--run", "3"], "explanation");
    let sentences = explained[0]["sentences"].as_array().expect("a list");
    let phrases = page["phrases"].as_array().expect("a list");
    let why = of(&page, "text")["why"].as_array().expect("a list");
    assert_eq!(why.len(), sentences.len());
    for (entry, sentence) in why.iter().zip(sentences) {
        let phrase = &phrases[entry[0].as_u64().expect("a place") as usize];
        let mut text = phrase[1].as_str().expect("a phrase").to_owned();
        let numbers = entry[1].as_str().expect("numbers");
        for number in numbers.split('|').filter(|number| !number.is_empty()) {
            text = text.replacen('\u{1}', number, 1);
        }
        assert_eq!(phrase[0], sentence["about"]);
        assert_eq!(text, sentence["text"].as_str().expect("text"));
    }
}

#[test]
fn a_directory_gets_an_index_a_file_is_replaced_whole_and_json_says_where() {
    let machine = Machine::new();
    runs(&machine);
    let site = machine.home().join("site");
    let said = |place: &str, json: bool| -> Finished {
        let html = format!("html={place}");
        let mut words = vec!["report", "--report", &html];
        if json {
            words.extend(["--message-format", "json"]);
        }
        stored(&machine, &words).run().expect_code(0)
    };
    let directory = format!("{}/", site.display());
    let finished = said(&directory, false);
    assert!(finished.stdout.starts_with("Wrote "), "{finished}");
    assert!(finished.stdout.contains("3 benchmarks"), "{finished}");
    let first = fs::read_to_string(site.join("index.html")).expect("written");
    let finished = said(&site.display().to_string(), true);
    let message = &finished.messages("report-written")[0];
    assert_eq!(message["bytes"], first.len());
    assert_eq!(
        (&message["benchmarks"], &message["run"]),
        (&3.into(), &3.into())
    );
    let again = fs::read_to_string(site.join("index.html")).expect("written");
    assert_eq!(first, again, "the same data give the same bytes");
    let files = fs::read_dir(&site).expect("a directory").count();
    assert_eq!(files, 1, "nothing is left beside");
}

#[test]
fn all_runs_have_pages_and_an_index_that_leads_to_them() {
    let machine = Machine::new();
    runs(&machine);
    let site = machine.home().join("site");
    let wanted = format!("html={}/", site.display());
    let words = ["report", "--all", "--report", &wanted];
    stored(&machine, &words).run().expect_code(0);
    let read = |name: &str| fs::read_to_string(site.join(name)).expect("written");
    let index = read("index.html");
    let links: Vec<&str> = index
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(
        links,
        ["run-3.html", "run-2.html", "run-1.html"],
        "newest first"
    );
    for link in links {
        assert!(read(link).contains("id=\"data\""), "{link}");
    }
    assert!(!index.contains("<script"), "{index}");
    // The page of a run equals the page of `report` for this run alone.
    let alone = stored(&machine, &["report", "2", "--report", "html"]).run();
    assert_eq!(read("run-2.html"), alone.expect_code(0).stdout);
    for words in [
        &["report", "--all"][..],
        &["report", "--all", "--report", "html=x.html"],
        &["report", "--all", "1", "--report", &wanted],
    ] {
        stored(&machine, words).run().expect_code(2);
    }
}

#[test]
fn a_run_and_a_comparison_write_their_pages_beside_the_table() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let site = machine.home().join("site");
    let wanted = format!("html={}/", site.display());
    let written = || fs::read_to_string(site.join("index.html")).expect("written");
    let run = steady(&machine, &[("text", 200.0)]).args(["--report", &wanted]);
    assert!(run.run().expect_code(1).stdout.contains("regressed"));
    let on_demand = stored(&machine, &["report", "2", "--report", "html"]).run();
    assert_eq!(written(), on_demand.expect_code(0).stdout);

    let compare = stored(&machine, &["compare", "1", "2", "--report", &wanted]);
    compare.run().expect_code(1);
    let (beside, on_demand) = (data(&written()), page(&machine, &["1", "2"]));
    assert_eq!(beside["benchmarks"], on_demand["benchmarks"]);
    let stricter = ["compare", "1", "2", "--noise-threshold", "3%"];
    let stricter = stored(&machine, &stricter).args(["--report", &wanted]);
    stricter.run();
    let found = data(&written());
    let threshold = &of(&found, "text")["compared"]["threshold"];
    assert_eq!(threshold, 0.03, "the page obeys what `compare` was told");
}

#[test]
fn a_report_without_a_place_or_about_too_many_runs_says_what_to_do() {
    let machine = Machine::new();
    let refused = stored(&machine, &["report"]).run().expect_code(2);
    assert!(refused.stderr.contains("--report html=FILE"), "{refused}");
    let refused = stored(
        &machine,
        &["report", "1", "2", "3", "--report", "html=x.html"],
    );
    refused.run().expect_code(2);
    let refused = stored(&machine, &["report", "--report", "html", "--open"]).run();
    assert!(refused.expect_code(2).stderr.contains("stdout"));
    let refused = stored(&machine, &["report", "--report", "html=x.html"]).run();
    refused.expect_code(6);
    steady(&machine, &[]).run().expect_code(0);
    let same = stored(
        &machine,
        &["report", "1", "latest", "--report", "html=x.html"],
    )
    .run();
    assert!(same.expect_code(2).stderr.contains("same run"));
    let nowhere = machine.home().join("none").join("x.html");
    let nowhere = nowhere.display().to_string();
    let failed = stored(
        &machine,
        &["report", "--report", &format!("html={nowhere}")],
    )
    .run();
    assert!(failed.expect_code(2).stderr.contains(&nowhere));
}

#[test]
fn a_first_run_has_a_page_without_comparisons() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let page = page(&machine, &["latest"]);
    let found = of(&page, "text");
    assert_eq!(found["verdict"], "new");
    assert!(found["base"].is_null() && found["candidate"]["estimates"][3][0].is_number());
    assert!(page["head"]["reference"].is_null());
}
