//! Tests of Criterion's interface: it compiles, its benchmarks run, and its ids are Criterion's.

mod support;

use support::plain;

const API: &str = "criterion_api";

#[test]
fn every_benchmark_of_the_whole_interface_runs() {
    let listed = plain(API, "--list --format terse").stdout.lines().count();
    let tested = plain(API, "");
    assert_eq!(tested.code, Some(0), "{tested:?}");
    assert_eq!(tested.stdout.matches("Success\n").count(), listed);
    assert!(listed > 40, "{listed}");
}

#[test]
fn ids_are_those_of_criterion() {
    let listed = |filter: &str| {
        plain(API, &format!("--list --format terse {filter}"))
            .stdout
            .replace(": benchmark", "")
    };
    assert_eq!(
        listed("^(borrowed|formatted|with_input|unsized|ids)"),
        "borrowed\nformatted 1\nwith_input/7\nunsized/x\nids/str\nids/string\nids/id/(1, 2)\nids/str_with_input\nids/3.5\n"
    );
    // Criterion 0.3 omits names that add nothing.
    assert_eq!(
        listed("^(old|parameterized|alone|over|functions)"),
        "old/first\nold/second\nparameterized/first/1\nparameterized/first/2\nparameterized/second/1\nparameterized/second/2\n\
         alone\nover/1\nover/2\nfunctions/one\nfunctions/two\n"
    );
    assert_eq!(
        listed("^generic"),
        "generic/helped\ngeneric function\ngeneric/helped #2\ngeneric function #2\n"
    );
}
