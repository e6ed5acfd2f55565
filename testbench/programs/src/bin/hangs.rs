//! Does what its arguments say.

fn main() -> std::process::ExitCode {
    programs::act()
}
