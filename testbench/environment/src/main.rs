//! A binary that cargo builds together with the bench, which only gets its path.

fn main() {
    println!("neighbour");
}
