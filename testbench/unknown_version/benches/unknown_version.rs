//! A child, written without the harness, that speaks version 99 of the protocol and no other.

fn main() {
    if std::env::var_os("PERFCHECK_PROTOCOL").is_none() {
        eprintln!("unknown_version has something to say to `cargo perfcheck` only");
        return;
    }
    println!();
    println!(
        r#"{{"type":"hello","protocol":99,"harness":"from the future","version":"99.0.0","capabilities":["addressable","clairvoyant"],"quantum_ns":1}}"#
    );
}
