//! Criterion before 0.3.3: it knows no runner, and prints which benchmark it begins.

fn main() {
    println!("Gnuplot not found, using plotters backend");
    println!("Benchmarking first");
    std::thread::park();
}
