//! A type error, to be shown as cargo shows it.

fn main() {
    let iterations: u64 = "many";
    println!("{iterations}");
}
