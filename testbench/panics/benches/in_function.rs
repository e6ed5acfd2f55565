//! The function `broken` panics after it has declared one of its two benchmarks. The function `fine` succeeds.

use perfcheck::{Suite, black_box};

fn broken(suite: &mut Suite) {
    suite.bench("registered_before_the_panic", |b| {
        b.iter(|| black_box(1) + 1);
    });
    let corpus: Result<String, _> = std::fs::read_to_string("no/such/corpus.txt");
    let corpus = corpus.expect("panic in the function: the corpus is there");
    suite.bench("never_registered", |b| b.iter(|| black_box(&corpus).len()));
}

fn fine(suite: &mut Suite) {
    suite.bench("of_the_other_function", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(broken, fine);
