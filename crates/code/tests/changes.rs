//! Compares small programs, built here with `rustc`, after changes to their sources or to their link.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use perfcheck_code::{
    CodeComparison, FunctionPair, FunctionReader, Reach, UnsupportedExecutable, compare,
    insert_traps,
};

/// A crate that the program depends on.
const DEPENDENCY: &str = r"
pub fn weigh(n: u64) -> u64 { helper(n) ^ 5 }
#[inline(never)]
fn helper(n: u64) -> u64 { n.rotate_left(7) }
pub fn generic<T: Into<u64> + Copy>(items: &[T]) -> u64 {
    let mut sum = 0;
    for item in items { sum += (*item).into() * 3; }
    sum
}
";

/// A program whose first argument selects a function.
const PROGRAM: &str = r#"
use std::cell::Cell;
static TABLE: [u32; 64] = { let mut t = [0; 64]; let mut i = 0; while i < 64 { t[i] = (i * i) as u32 + 11; i += 1; } t };
const PROMOTED: [u64; 9] = [91, 82, 73, 64, 55, 46, 37, 28, 19];
const WORDS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
thread_local!(static LEVEL: Cell<u64> = const { Cell::new(41) });
trait Shape { fn area(&self, n: u64) -> u64; fn name(&self) -> &'static str; }
struct Square; struct Circle;
impl Shape for Square { fn area(&self, n: u64) -> u64 { n.wrapping_mul(n) } fn name(&self) -> &'static str { "square" } }
impl Shape for Circle { fn area(&self, n: u64) -> u64 { n.wrapping_mul(3) } fn name(&self) -> &'static str { "circle" } }
#[inline(never)] fn shapes(n: u64) -> Vec<Box<dyn Shape>> { if n > 5 { vec![Box::new(Square)] } else { vec![Box::new(Circle), Box::new(Square)] } }
#[inline(always)] fn inlined(n: u64) -> u64 { n ^ 0x55 }
#[inline(never)] fn through_inlined(n: u64) -> u64 { inlined(n) + 1 }
#[inline(never)] fn through_table(n: u64) -> u64 { u64::from(TABLE[(n % 64) as usize]) }
#[inline(never)] fn through_promoted(n: u64) -> u64 { PROMOTED[(n % 9) as usize] }
#[inline(never)] fn through_words(n: u64) -> &'static str { WORDS[(n % 4) as usize] }
#[inline(never)] fn through_match(n: u64) -> &'static str {
    match n { 0 => "zero", 1 => "first", 2 => "second", 3 => "third", 4 => "fourth", 5 => "fifth!", _ => "many" }
}
#[inline(never)] fn through_jumps(n: u64, v: &mut Vec<u64>) {
    match n {
        0 => v.push(1), 1 => { v.pop(); } 2 => v.clear(), 3 => v.reverse(), 4 => v.sort(), 5 => v.extend([1, 2]),
        6 => v.truncate(3), _ => v.dedup(),
    }
}
#[inline(never)] fn through_threads() -> u64 { LEVEL.with(|l| { l.set(l.get() + 1); l.get() }) }
#[inline(never)] fn through_float(n: u64) -> f64 { (n as f64) * 1.25 }
#[inline(never)] fn through_panic(n: u64) -> u64 { if n == 77 { panic!("never {n}") } n }
fn main() {
    let n = std::env::args().count() as u64;
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "inlined" => println!("{}", through_inlined(n)),
        "generic" => println!("{}", dependency::generic(&[n as u32, 4]) + dependency::generic(&[n as u8])),
        "dyn" => println!("{:?}", shapes(n).iter().map(|s| s.area(n) + s.name().len() as u64).sum::<u64>()),
        "dependency" => println!("{}", dependency::weigh(n)),
        "table" => println!("{}", through_table(n) + through_promoted(n)),
        "words" => println!("{}{}", through_words(n), through_match(n)),
        "jumps" => { let mut v = vec![3, 1, 2]; through_jumps(n, &mut v); println!("{v:?}") }
        "threads" => println!("{}", through_threads()),
        "float" => println!("{}", through_float(n)),
        "panic" => println!("{}", through_panic(n)),
        _ => println!("nothing"),
    }
}
"#;

/// Linker flags that shuffle functions and constants.
const SHUFFLED: [&str; 2] = [
    "-Clink-arg=-Wl,--shuffle-sections=.text*=7",
    "-Clink-arg=-Wl,--shuffle-sections=.rodata*=7,--shuffle-sections=.data.rel.ro*=7",
];

/// A temporary folder with executables.
struct TempFolder(tempfile::TempDir);

impl TempFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("it works"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Builds both crates, always at the same path, as a comparison does.
    fn build(&self, program: &str, dependency: &str, flags: &[&str]) -> Vec<u8> {
        let at = |name: &str| self.path().join(name);
        fs::write(at("program.rs"), program).expect("it works");
        fs::write(at("dependency.rs"), dependency).expect("it works");
        let rustc = |file: &str, flags: &[&str]| {
            let mut command = Command::new("rustc");
            command
                .current_dir(self.path())
                .args(["--edition=2024", "-Copt-level=3", "-L.", file]);
            let output = command.args(flags).output().expect("it works");
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        };
        rustc("dependency.rs", &["--crate-type=rlib"]);
        rustc(
            "program.rs",
            &[&["--extern=dependency=libdependency.rlib"], flags].concat(),
        );
        fs::read(at("program")).expect("it works")
    }

    fn usual(&self) -> Vec<u8> {
        self.build(PROGRAM, DEPENDENCY, &[])
    }

    fn run(&self, executable: &[u8], argument: &str) -> ExitStatus {
        let path: PathBuf = self.path().join("runs");
        // Write a new file each time: another process may have the old one open.
        let _ = fs::remove_file(&path);
        fs::write(&path, executable).expect("it works");
        let mut permissions = fs::metadata(&path).expect("it works").permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        fs::set_permissions(&path, permissions).expect("it works");
        // A process that another test is starting keeps this file open until its own program runs.
        loop {
            match Command::new(&path).arg(argument).output() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                output => return output.expect("it works").status,
            }
        }
    }
}

fn program_with(from: &str, to: &str) -> String {
    assert!(PROGRAM.contains(from), "{from}");
    PROGRAM.replacen(from, to, 1)
}

/// Returns the names of functions that both sides have, that only the candidate has, and that only the base has.
fn names(found: &CodeComparison) -> [Vec<&str>; 3] {
    let of = |base, candidate| {
        let of_kind = found.functions.iter();
        let of_kind = of_kind
            .filter(|one| (one.base.is_some(), one.candidate.is_some()) == (base, candidate));
        of_kind.map(|one| one.name.as_str()).collect()
    };
    [of(true, true), of(false, true), of(true, false)]
}

#[test]
fn what_changes_no_code_that_runs_is_the_same_wherever_it_lies() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let changes = [
        (
            "a dead function",
            format!("#[inline(never)] fn dead(n: u64) -> u64 {{ n / 3 }}\n{PROGRAM}"),
        ),
        ("lines", format!("\n\n// A comment.\n{PROGRAM}")),
        ("columns", program_with("if n == 77 {", "if  n  ==  77  {")),
        (
            "a document",
            program_with(
                "#[inline(never)] fn shapes",
                "/// Makes shapes.\n#[inline(never)] fn shapes",
            ),
        ),
    ];
    for (what, program) in changes {
        let candidate = workshop.build(&program, DEPENDENCY, &[]);
        let found = compare(&base, &candidate).expect("it works");
        assert_eq!(
            (&found.reach, &found.functions[..]),
            (&Reach::Same, &[][..]),
            "{what}"
        );
    }
    let shuffled = workshop.build(PROGRAM, DEPENDENCY, &SHUFFLED);
    let found = compare(&base, &shuffled).expect("it works");
    assert_eq!(
        (&found.reach, &found.functions[..]),
        (&Reach::Same, &[][..])
    );
    assert!(
        found.moved > 300 && found.moved > 20 * found.same,
        "{} {}",
        found.moved,
        found.same
    );
}

/// A change in the program, the function that must be reported, and the argument with which the program runs it.
const CHANGES: [(&str, &str, &str, &str); 14] = [
    (
        "n ^ 0x55",
        "n ^ 0x56",
        "program::through_inlined",
        "inlined",
    ),
    (
        "as u32 + 11",
        "as u32 + 12",
        "program::through_table",
        "table",
    ),
    (
        "37, 28, 19]",
        "37, 28, 20]",
        "program::through_promoted",
        "table",
    ),
    (
        "\"gamma\", \"delta\"",
        "\"gamma\", \"delte\"",
        "program::through_words",
        "words",
    ),
    ("\"third\"", "\"thirt\"", "program::through_match", "words"),
    (
        "\"third\"",
        "\"thirdly\"",
        "program::through_match",
        "words",
    ),
    (
        "0 => v.push(1)",
        "0 => v.push(2)",
        "program::through_jumps",
        "jumps",
    ),
    (
        "2 => v.clear(), 3 => v.reverse()",
        "3 => v.clear(), 2 => v.reverse()",
        "program::through_jumps",
        "jumps",
    ),
    (
        "Cell::new(41)",
        "Cell::new(42)",
        "program::through_threads",
        "threads",
    ),
    (
        "n as f64) * 1.25",
        "n as f64) * 1.75",
        "program::through_float",
        "float",
    ),
    (
        "n.wrapping_mul(3)",
        "n.wrapping_mul(5)",
        "<program::Circle as program::Shape>::area",
        "dyn",
    ),
    (
        "{ \"circle\" }",
        "{ \"cycles\" }",
        "<program::Circle as program::Shape>::name",
        "dyn",
    ),
    (
        "\"never {n}\"",
        "\"newer {n}\"",
        "program::through_panic",
        "panic",
    ),
    (
        "vec![Box::new(Circle), Box::new(Square)]",
        "vec![Box::new(Square), Box::new(Circle)]",
        "program::shapes",
        "dyn",
    ),
];

#[test]
fn a_change_of_what_runs_is_found_where_it_is_in_the_usual_link() {
    changes_are_found_in_a_link_with(&[]);
}

#[test]
fn a_change_of_what_runs_is_found_where_it_is_in_another_link() {
    changes_are_found_in_a_link_with(&SHUFFLED);
}

fn changes_are_found_in_a_link_with(flags: &[&str]) {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    for (from, to, name, argument) in CHANGES {
        let candidate = workshop.build(&program_with(from, to), DEPENDENCY, flags);
        is_found(&workshop, &base, &candidate, name, argument);
    }
}

#[test]
fn a_change_in_a_dependency_is_found_and_so_is_one_of_a_generic_function() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    for (from, to, name, argument) in [
        (
            "rotate_left(7)",
            "rotate_left(9)",
            "dependency::helper",
            "dependency",
        ),
        (".into() * 3", ".into() * 11", "program::main", "generic"),
    ] {
        assert!(DEPENDENCY.contains(from));
        let candidate = workshop.build(PROGRAM, &DEPENDENCY.replace(from, to), &[]);
        let found = compare(&base, &candidate).expect("it works");
        assert!(
            names(&found)[0].contains(&name),
            "{from}: {:?}",
            found.functions
        );
        assert!(
            matches!(found.reach, Reach::Differs(_)),
            "{from}: {argument}"
        );
    }
}

/// Checks that both sides stop at a trap with the argument that reaches the change, and that both finish without it.
fn is_found(workshop: &TempFolder, base: &[u8], candidate: &[u8], name: &str, argument: &str) {
    let found = compare(base, candidate).expect("it works");
    assert!(
        names(&found)[0].contains(&name),
        "{name}: {:?}",
        found.functions
    );
    let Reach::Differs(entrances) = &found.reach else {
        panic!("{name}: {:?}", found.reach);
    };
    for (executable, entrances) in [(base, &entrances.base), (candidate, &entrances.candidate)] {
        let trap = insert_traps(executable.to_vec(), entrances);
        assert!(!workshop.run(&trap, argument).success(), "{name} runs");
        // Thread-local storage is one item: a function that uses any of it counts as using all of it.
        let runs = name.contains("threads") || workshop.run(&trap, "").success();
        assert!(runs, "{name} does not run");
    }
}

#[test]
fn a_function_whose_data_alone_changed_comes_after_those_whose_code_did() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let program = program_with("\"gamma\", \"delta\"", "\"gamma\", \"delte\"")
        .replacen("rotate_left(7)", "rotate_left(9)", 1)
        .replacen("n.wrapping_mul(3)", "n.wrapping_mul(5)", 1);
    let found = compare(&base, &workshop.build(&program, DEPENDENCY, &[])).expect("it works");
    let (own, data): (Vec<_>, Vec<_>) = found.functions.iter().partition(|one| !one.same_code);
    let [own, data] = [own, data].map(|of| of.iter().map(|one| &*one.name).collect::<Vec<_>>());
    assert_eq!(own, ["<program::Circle as program::Shape>::area"]);
    assert!(data.contains(&"program::through_words"), "{data:?}");
    assert!(!found.functions[0].same_code);
}

#[test]
fn functions_that_are_added_and_removed_have_their_names_and_sizes() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let program = program_with(
        "\"inlined\" => println!(\"{}\", through_inlined(n))",
        "\"inlined\" => println!(\"{}\", other(n))",
    );
    let program = format!("#[inline(never)] fn other(n: u64) -> u64 {{ n * 5 }}\n{program}");
    let found = compare(&base, &workshop.build(&program, DEPENDENCY, &[])).expect("it works");
    assert_eq!(
        names(&found),
        [
            ["program::main"],
            ["program::other"],
            ["program::through_inlined"]
        ]
    );
    // It calls another function now, but its own code is equal.
    assert!(!found.functions[0].same_code);
    let other = &found.functions[1];
    // lea (%rdi,%rdi,4),%rax; ret
    assert_eq!((other.base, other.candidate), (None, Some(5)));
}

#[test]
fn what_cannot_be_compared_says_why() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let with = |flag: &str| compare(&base, &workshop.build(PROGRAM, DEPENDENCY, &[flag]));
    assert_eq!(
        with("-Cstrip=symbols"),
        Err(UnsupportedExecutable::Stripped)
    );
    assert_eq!(
        with("-Crelocation-model=static"),
        Err(UnsupportedExecutable::FixedAddresses)
    );
    assert_eq!(
        compare(&base, b"\x7fELF"),
        Err(UnsupportedExecutable::Format)
    );
    assert_eq!(compare(b"MZ", &base), Err(UnsupportedExecutable::Format));
    assert!(matches!(
        compare(&base, &base[..base.len() / 2]),
        Err(UnsupportedExecutable::Damaged(_))
    ));
}

/// Returns the differing rows of the only function with this name, as `base | candidate`, and the number of equal rows.
fn differing(pairs: &[FunctionPair]) -> (Vec<String>, usize) {
    let [pair] = pairs else {
        panic!("{pairs:?}");
    };
    let side = |text: &Option<String>| text.clone().unwrap_or_default();
    let (differing, same): (Vec<_>, Vec<_>) = pair.rows.iter().partition(|row| row.differs());
    let shown = differing.iter();
    let shown = shown.map(|row| format!("{} | {}", side(&row.base), side(&row.candidate)));
    (shown.collect(), same.len())
}

#[test]
fn functions_read_the_same_wherever_they_and_what_they_refer_to_lie() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let shuffled = workshop.build(PROGRAM, DEPENDENCY, &SHUFFLED);
    let [base, shuffled] = [&base, &shuffled].map(|it| FunctionReader::parse(it).expect("whole"));
    let mut functions = 0;
    for name in base.names() {
        for pair in base.pair_functions(&shuffled, name) {
            let differing = pair.rows.iter().filter(|row| row.differs());
            let differing: Vec<_> = differing.collect();
            assert!(!pair.differs(), "{name}: {differing:#?}");
            functions += 1;
        }
    }
    assert!(functions > 300, "{functions}");
}

#[test]
fn an_instruction_that_changed_is_shown_beside_the_other_and_the_rest_is_the_same() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let program =
        program_with("n ^ 0x55", "n ^ 0x56").replacen("n as f64) * 1.25", "n as f64) * 1.75", 1);
    for flags in [&[][..], &SHUFFLED[..]] {
        let candidate = workshop.build(&program, DEPENDENCY, flags);
        let [old, new] = [&base, &candidate].map(|it| FunctionReader::parse(it).expect("whole"));
        let of = |name| differing(&old.pair_functions(&new, name));
        assert_eq!(
            of("program::through_inlined"),
            (vec!["xor rdi, 0x55 | xor rdi, 0x56".to_owned()], 2)
        );
        let (float, _) = of("program::through_float");
        let [row] = &float[..] else {
            panic!("{float:?}");
        };
        assert!(row.contains("mulsd xmm0, "), "{row}");
        assert!(row.contains("[.rodata: 0x3ff4000000000000]"), "{row}");
        assert!(row.contains("[.rodata: 0x3ffc000000000000]"), "{row}");
        assert_eq!(of("program::through_table").0, [""; 0]);
    }
}

#[test]
fn calls_and_statics_are_named_and_jumps_have_labels() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let reader = FunctionReader::parse(&base).expect("whole");
    let text = |name: &str| {
        let pairs = reader.pair_functions(&reader, name);
        let rows = pairs[0].rows.iter();
        let lines = rows.map(|row| {
            let label = row
                .label
                .map_or(String::new(), |label| format!("L{label}:"));
            format!("{label} {}", row.base.as_deref().unwrap_or_default())
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(
        text("dependency::weigh").contains(" call dependency::helper"),
        "{}",
        text("dependency::weigh")
    );
    assert!(
        text("program::through_table").contains("program::TABLE"),
        "{}",
        text("program::through_table")
    );
    let panics = text("program::through_panic");
    assert!(panics.contains("L1"), "{panics}");
    assert!(panics.contains("core::panicking::panic_fmt"), "{panics}");
}

#[test]
fn a_function_that_one_side_lacks_stands_alone() {
    let workshop = TempFolder::new();
    let base = workshop.usual();
    let program = PROGRAM.replace("through_float", "other");
    let candidate = workshop.build(&program, DEPENDENCY, &[]);
    let [old, new] = [&base, &candidate].map(|it| FunctionReader::parse(it).expect("whole"));
    let pairs = old.pair_functions(&new, "program::other");
    assert_eq!((pairs.len(), pairs[0].base), (1, None));
    assert!(pairs[0].candidate.is_some() && pairs[0].differs());
    assert!(pairs[0].rows.iter().all(|row| row.base.is_none()));
    assert_eq!(
        old.pair_functions(&new, "program::through_float")[0].candidate,
        None
    );
    assert_eq!(old.pair_functions(&new, "program::nothing"), []);
}

#[test]
fn what_is_linked_to_fixed_addresses_is_read_and_what_is_stripped_is_not() {
    let workshop = TempFolder::new();
    let fixed = workshop.build(PROGRAM, DEPENDENCY, &["-Crelocation-model=static"]);
    let reader = FunctionReader::parse(&fixed).expect("whole");
    assert!(reader.names().any(|name| name == "program::main"));
    let stripped = workshop.build(PROGRAM, DEPENDENCY, &["-Cstrip=symbols"]);
    assert_eq!(
        FunctionReader::parse(&stripped).err(),
        Some(UnsupportedExecutable::Stripped)
    );
    assert_eq!(
        FunctionReader::parse(b"MZ").err(),
        Some(UnsupportedExecutable::Format)
    );
}
