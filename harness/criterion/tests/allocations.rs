//! Iterations are counted if a `CountingAllocator` is the global allocator.

#![cfg(feature = "allocations")]

mod support;

use support::conversation;

#[test]
fn what_iterations_allocate_is_counted_without_their_set_up() {
    let (frames, ended) = conversation(
        "criterion_counting",
        &[
            "begin", "run", "count 2", "finish", "next", "run", "count 1", "finish", "next", "run",
            "count 1", "finish", "bye",
        ],
    );
    let counted: Vec<&str> = frames
        .iter()
        .filter_map(|frame| frame.strip_prefix(r#"{"type":"counted","#))
        .collect();
    assert_eq!(
        counted,
        [
            r#""allocations":[2,2],"bytes":[96,96],"peak_bytes":[96,96],"other_allocations":[0,0],"other_bytes":[0,0]}"#,
            r#""allocations":[1],"bytes":[64],"peak_bytes":[64],"other_allocations":[0],"other_bytes":[0]}"#,
            r#""allocations":[1],"bytes":[64],"peak_bytes":[64],"other_allocations":[0],"other_bytes":[0]}"#,
        ]
    );
    assert_eq!(ended.code, Some(0));
}
