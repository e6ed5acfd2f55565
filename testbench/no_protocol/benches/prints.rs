//! A program that is no bench of ours: it prints some text and is content.

fn main() {
    println!("Welcome to MyBench 3000!");
    println!("fib 20 ... 26.1 us");
}
