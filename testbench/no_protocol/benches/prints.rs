//! A program that does not speak the protocol: it prints some text and succeeds.

fn main() {
    println!("Welcome to MyBench 3000!");
    println!("fib 20 ... 26.1 us");
}
