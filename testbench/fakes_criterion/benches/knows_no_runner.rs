//! Imitates Criterion before 0.3.3, which does not connect to a runner and prints the name of each benchmark that begins.

fn main() {
    println!("Gnuplot not found, using plotters backend");
    println!("Benchmarking first");
    std::thread::park();
}
