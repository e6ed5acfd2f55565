//! A program that is no bench of ours: it says nothing and does not end (for a quarter of an hour).

fn main() {
    std::thread::sleep(std::time::Duration::from_mins(15));
}
