//! A binary beside the bench: cargo builds it for the bench, nobody launches it as one.

fn main() {
    println!("neighbour");
}
