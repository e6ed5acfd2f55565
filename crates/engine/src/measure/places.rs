//! The benchmarks of an executable by place and by id: the campaigns count places, a bench that goes through its benchmarks by itself
//! names them.

use perfcheck_analysis::model::Benchmark;

/// The ids of those at `places`.
pub(super) fn ids(subjects: &[impl AsRef<Benchmark>], places: &[usize]) -> Vec<String> {
    let of = |place: &usize| subjects[*place].as_ref().key.id.clone();
    places.iter().map(of).collect()
}

/// Where `id` stands.
pub(super) fn place_of(subjects: &[impl AsRef<Benchmark>], id: &str) -> Option<usize> {
    subjects
        .iter()
        .position(|subject| subject.as_ref().key.id == id)
}
