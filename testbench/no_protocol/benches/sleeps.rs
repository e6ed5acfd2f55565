//! A program that does not speak the protocol: it prints nothing and sleeps for a quarter of an hour.

fn main() {
    std::thread::sleep(std::time::Duration::from_mins(15));
}
