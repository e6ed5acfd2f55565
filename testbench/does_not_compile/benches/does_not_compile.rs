//! A type error. Its message must be shown as cargo prints it.

fn main() {
    let iterations: u64 = "many";
    println!("{iterations}");
}
