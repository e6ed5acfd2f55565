//! Each benchmark announces a value that is beyond its limit, except `fine`, which is measured.

use bad_frames::{Fault, has_parent, send, send_benchmark, send_hello, serve};

fn main() {
    if !has_parent() {
        return;
    }
    send_hello();
    let long_id = format!("long{}", "x".repeat(70_000));
    let announced = [
        (long_id.as_str(), ""),
        ("no_processes", r#","settings":{"processes":0}"#),
        ("many_processes", r#","settings":{"processes":4000000000}"#),
        ("one_sample", r#","settings":{"samples":1}"#),
        ("many_samples", r#","settings":{"samples":1000001}"#),
        (
            "long_warm_up",
            r#","settings":{"warm_up_ns":18446744073709551615}"#,
        ),
        (
            "long_measurement",
            r#","settings":{"measurement_ns":9223372036854775808}"#,
        ),
        (
            "less_than_no_noise",
            r#","settings":{"noise_threshold":-1}"#,
        ),
        (
            "many_bytes",
            r#","throughput":{"bytes":18446744073709551615,"elements":1}"#,
        ),
    ];
    serve(|| {
        for (id, rest) in announced {
            send(format!(r#"{{"type":"benchmark","id":"{id}"{rest}}}"#));
        }
        send_benchmark(Fault::None.id());
        send(format!(
            r#"{{"type":"listed","count":{}}}"#,
            announced.len() + 1
        ));
    });
}
