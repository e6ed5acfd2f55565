//! Links the executables of both sides with one code layout after another.
//!
//! A layout is a random map of functions to positions. The order in which the linker gets the functions and an object file of fillers put them there.
//! Invariant: a function that both sides have gets the same position in its page on both.

use object::write::{MachOBuildVersion, Object, SectionId, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, SectionFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
    elf, macho,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use super::executable;
use super::executable::{
    ExecutableCode, Function, Functions, PathRewrite, find_symbols_between, has_same_sections,
    parse_format, parse_functions,
};
use super::kept::{KeptLink, LinkError, SymbolOrder, file_error};
use perfcheck_analysis::model::{BySide, Side};
use perfcheck_host::process::{Supervisor, start_scoped_work};
use perfcheck_stats::{Draws, Stream};

/// An executable that can be linked again.
#[derive(Debug, Clone)]
pub struct Relinkable {
    /// Its kept link.
    pub(crate) link: KeptLink,
    /// The rewrites of paths in the executable, so that it finds the files of its own side.
    pub(crate) leads: Vec<PathRewrite>,
    /// Starts the linker.
    pub(crate) supervisor: Supervisor,
}

/// The executables of both sides, which can be linked with any number of layouts.
///
/// A change of the code moves all functions after it. So both builds are linked again with the same map: every function that both have gets the same
/// position in its page. Each map has another order of functions.
#[derive(Debug, Clone)]
pub struct CodeLayouts {
    sides: BySide<LinkedSide>,
    seed: u64,
}

#[derive(Debug, Clone)]
struct LinkedSide {
    from: Relinkable,
    code: ExecutableCode,
    executable: PathBuf,
}

impl CodeLayouts {
    /// Prepares executables that were `built` and can be linked again. New executables are written to `places`.
    pub fn prepare(
        from: &BySide<Relinkable>,
        built: BySide<&Path>,
        places: &BySide<PathBuf>,
        seed: u64,
    ) -> Result<Self, LinkError> {
        let (base, candidate) = compute_both(
            || LinkedSide::prepare(from.base.clone(), built.base, places.base.clone()),
            || {
                let from = from.candidate.clone();
                LinkedSide::prepare(from, built.candidate, places.candidate.clone())
            },
        );
        let sides = BySide {
            base: base?,
            candidate: candidate?,
        };
        Ok(Self { sides, seed })
    }

    /// Returns the paths of the executables.
    pub fn executables(&self) -> BySide<&Path> {
        BySide {
            base: &self.sides.base.executable,
            candidate: &self.sides.candidate.executable,
        }
    }

    /// Links both sides with the layout number `ordinal`.
    pub fn link(&self, ordinal: u32) -> Result<(), LinkError> {
        let BySide { base, candidate } = &self.sides;
        let functions = BySide {
            base: &base.code.functions,
            candidate: &candidate.code.functions,
        };
        let map = draw_map(functions, self.seed, ordinal);
        let (base, candidate) =
            compute_both(|| base.link(&map.base), || candidate.link(&map.candidate));
        base.and(candidate)
    }
}

/// Computes the results of both sides, at the same time if a thread can be started.
fn compute_both<T: Send>(base: impl Fn() -> T + Sync, candidate: impl Fn() -> T) -> (T, T) {
    thread::scope(|scope| {
        let base = start_scoped_work(scope, &base);
        let candidate = candidate();
        (base(), candidate)
    })
}

fn read(path: &Path) -> Result<Vec<u8>, LinkError> {
    fs::read(path).map_err(file_error("cannot read", path))
}

impl Relinkable {
    /// Fails if repeating the link at `place` does not give the bytes that were `built`. On macOS, the sections must be the same.
    fn require_repeatable(&self, built: &[u8], place: &Path) -> Result<(), LinkError> {
        self.link.repeat(place, &self.supervisor)?;
        self.rewrite_paths(place)?;
        let again = read(place)?;
        let is_macho = parse_format(built) == Ok(BinaryFormat::MachO);
        if again != built && !(is_macho && has_same_sections(&again, built)) {
            return Err(LinkError::Unrepeatable);
        }
        Ok(())
    }

    /// Rewrites the paths in `executable` as it was done in the executable that was built.
    fn rewrite_paths(&self, executable: &Path) -> Result<(), LinkError> {
        executable::apply_all(&self.leads, executable)
            .map_err(file_error("cannot rewrite paths in", executable))
    }
}

impl LinkedSide {
    /// Finds the functions of the executable that was `built`. If it was stripped, links another with all names.
    fn prepare(from: Relinkable, built: &Path, executable: PathBuf) -> Result<Self, LinkError> {
        let broken = |why| LinkError::Functions {
            path: built.to_owned(),
            why,
        };
        let bytes = read(built)?;
        from.require_repeatable(&bytes, &executable)?;
        let format = parse_format(&bytes).map_err(broken)?;
        let found = parse_functions(&bytes).or_else(|_| {
            (from.link).repeat_with(&executable, format, None, &from.supervisor)?;
            parse_functions(&read(&executable)?).map_err(broken)
        });
        let mut prepared = Self {
            code: found?,
            from,
            executable,
        };
        if format != BinaryFormat::Elf {
            prepared.keep_movable_functions()?;
        }
        Ok(prepared)
    }

    /// Keeps the functions that the linker puts between two fillers if told to. Linkers of macOS differ, and they do not move functions of object files
    /// whose assembler did not allow it. Fails if most functions stay outside.
    fn keep_movable_functions(&mut self) -> Result<(), LinkError> {
        let filler = CodePiece::Filler(FillerSpec {
            size: STEP,
            alignment: STEP,
        });
        let functions = self.code.functions.values().flatten();
        let functions = functions.map(|function| CodePiece::Function(function.symbol.clone()));
        let mut pieces = vec![filler.clone()];
        pieces.extend(functions);
        pieces.push(filler);
        self.link(&pieces)?;
        let all = pieces.len() - 2;
        let [first, last] = [0, 1].map(|nth| filler_symbol(self.code.format, nth));
        let inside = find_symbols_between(&read(&self.executable)?, &first, &last);
        let functions = &mut self.code.functions;
        for same in functions.values_mut() {
            same.retain(|function| inside.contains(&function.symbol));
        }
        functions.retain(|_, same| !same.is_empty());
        if functions.values().map(Vec::len).sum::<usize>() * 2 < all {
            return Err(LinkError::Unordered);
        }
        Ok(())
    }

    fn link(&self, pieces: &[CodePiece]) -> Result<(), LinkError> {
        let written = write_objects(pieces, &self.code);
        let (objects, order) = written.map_err(|why| LinkError::Functions {
            path: self.executable.clone(),
            why,
        })?;
        let beside = |extension: &str| {
            let mut name = self.executable.clone().into_os_string();
            name.push(extension);
            PathBuf::from(name)
        };
        let mut fillers = Vec::new();
        for (nth, object) in objects.iter().enumerate() {
            let path = beside(&format!(".fillers{nth}.o"));
            fs::write(&path, object).map_err(file_error("cannot write", &path))?;
            fillers.push(path);
        }
        let symbols = beside(".order");
        fs::write(&symbols, order).map_err(file_error("cannot write", &symbols))?;
        let order = SymbolOrder {
            symbols: &symbols,
            fillers: &fillers,
            architecture: self.code.architecture,
        };
        let (link, supervisor) = (&self.from.link, &self.from.supervisor);
        link.repeat_with(&self.executable, self.code.format, Some(&order), supervisor)?;
        self.from.rewrite_paths(&self.executable)
    }
}

/// Size of a memory page, in bytes. Processors that compare only a few bits of addresses distinguish them within this range.
const PAGE: u64 = 4096;
/// Compilers align functions to this many bytes. Any larger alignment is left to chance.
const STEP: u64 = 16;
/// Number of possible gaps before a function: 0 to 3 steps. A cache line has four steps.
const GAPS: u32 = 4;

/// A filler, which takes up unused room before a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FillerSpec {
    pub(super) size: u64,
    pub(super) alignment: u64,
}

/// An element of the executable, in the order of the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodePiece {
    Filler(FillerSpec),
    /// The symbol of a function.
    Function(String),
}

/// Draws a map and returns the pieces from which to link each side. Functions that both sides have get the same positions. `ordinal` distinguishes
/// maps.
///
/// Functions come in a random order. Each has room for the larger of both sides' code and begins at a multiple of 16 bytes after a random gap. A
/// function that would cross the end of a page begins on the next page, so only a long function crosses one. A filler before each function takes up
/// the unused room. If the real size of a function differs from that of its symbol, positions are right again from the next page on.
pub(super) fn draw_map(
    sides: BySide<&Functions>,
    seed: u64,
    ordinal: u32,
) -> BySide<Vec<CodePiece>> {
    let block = u64::from(ordinal);
    let mut slots = pair_functions(&sides);
    let name = "order of functions";
    let mut order = Draws::new(Stream { seed, name }, block);
    order.shuffle(&mut slots);
    let name = "gaps between functions";
    let mut gaps = Draws::new(Stream { seed, name }, block);
    let mut map = BySide {
        base: SideLayout::default(),
        candidate: SideLayout::default(),
    };
    let mut end = 0_u64;
    for slot in slots {
        let gap = STEP * gaps.index(GAPS) as u64;
        let mut start = end.next_multiple_of(STEP) + gap;
        let room = slot.base.map_or(0, |function| function.size);
        let room = room.max(slot.candidate.map_or(0, |function| function.size));
        let fits = start / PAGE == (start + room.max(1) - 1) / PAGE;
        if !fits {
            // A filler of no bytes would have no alignment.
            start = end.next_multiple_of(PAGE) + STEP + gap;
        }
        for side in Side::BOTH {
            let strip = map.get_mut(side);
            strip.fill_to(start, fits);
            strip.push_function(*slot.get(side));
        }
        end = start + room;
    }
    BySide {
        base: map.base.pieces,
        candidate: map.candidate.pieces,
    }
}

/// A pair of functions that get the same position; `None` for a side that has no such function.
type Slot<'f> = BySide<Option<&'f Function>>;

fn pair_functions<'f>(sides: &BySide<&'f Functions>) -> Vec<Slot<'f>> {
    let names: BTreeSet<&String> = sides.base.keys().chain(sides.candidate.keys()).collect();
    let mut slots = Vec::new();
    for name in names {
        let of = |side| -> Vec<&'f Function> {
            sides.get(side).get(name).into_iter().flatten().collect()
        };
        let (base, mut candidate) = (of(Side::Base), of(Side::Candidate));
        // If several functions share a name, first pair those of equal size, then the rest.
        let mut others = Vec::new();
        for function in base {
            let same = candidate
                .iter()
                .position(|other| other.size == function.size);
            match same {
                Some(at) => slots.push(BySide {
                    base: Some(function),
                    candidate: Some(candidate.remove(at)),
                }),
                None => others.push(function),
            }
        }
        for nth in 0..others.len().max(candidate.len()) {
            slots.push(BySide {
                base: others.get(nth).copied(),
                candidate: candidate.get(nth).copied(),
            });
        }
    }
    slots
}

/// The pieces of one side so far.
#[derive(Default)]
struct SideLayout {
    pieces: Vec<CodePiece>,
    end: u64,
}

impl SideLayout {
    /// Adds filler up to `start`: from the current end if `from_here`, otherwise from the beginning of a new page.
    fn fill_to(&mut self, start: u64, from_here: bool) {
        let filler = if from_here {
            FillerSpec {
                size: start - self.end,
                // If a function ends a little before the size of its symbol, the alignment makes up for that.
                alignment: if self.end.is_multiple_of(STEP) {
                    STEP
                } else {
                    1
                },
            }
        } else {
            FillerSpec {
                size: start % PAGE,
                alignment: PAGE,
            }
        };
        if filler.size > 0 {
            self.pieces.push(CodePiece::Filler(filler));
        }
        self.end = start;
    }

    fn push_function(&mut self, function: Option<&Function>) {
        if let Some(function) = function {
            self.pieces
                .push(CodePiece::Function(function.symbol.clone()));
            self.end += function.size;
        }
    }
}

/// Returns the instruction that is repeated to fill a filler. No process should execute a filler, so the instruction stops one that does.
fn filler_bytes(architecture: Architecture) -> &'static [u8] {
    match architecture {
        // `brk #0`.
        Architecture::Aarch64 => &[0x00, 0x00, 0x20, 0xd4],
        // `int3`, the breakpoint of x86.
        _ => &[0xcc],
    }
}

/// Returns the symbol of the nth filler. Compilers for macOS begin each symbol with an underscore, and so does the library that writes object files.
fn filler_symbol(format: BinaryFormat, nth: usize) -> String {
    let prefix = if format == BinaryFormat::MachO {
        "_"
    } else {
        ""
    };
    format!("{prefix}{}", filler_name(nth))
}

fn filler_name(nth: usize) -> String {
    format!("perfcheck_filler_{nth}")
}

/// Returns object files with the fillers, and the order of all symbols, one on each line. The executable with this `code` is linked with them.
///
/// The fillers are marked as retained, because nothing refers to them. In ELF, each has a section of its own. In Mach-O, a section has an alignment and
/// the symbols divide it, so there is an object file for each alignment.
pub(super) fn write_objects(
    pieces: &[CodePiece],
    code: &ExecutableCode,
) -> Result<(Vec<Vec<u8>>, String), String> {
    let is_macho = code.format == BinaryFormat::MachO;
    let mut objects: BTreeMap<u64, Object<'_>> = BTreeMap::new();
    let mut order = String::new();
    let mut count = 0;
    for piece in pieces {
        match piece {
            CodePiece::Function(name) => order.push_str(name),
            CodePiece::Filler(filler) => {
                let name = filler_name(count);
                order.push_str(&filler_symbol(code.format, count));
                count += 1;
                let alignment = if is_macho { filler.alignment } else { 1 };
                let object = objects.entry(alignment);
                let object = object.or_insert_with(|| new_object(code));
                let bytes = filler_bytes(code.architecture);
                if is_macho {
                    add_to_section(object, &name, *filler, bytes);
                } else {
                    add(object, &name, *filler, bytes);
                }
            }
        }
        order.push('\n');
    }
    let written = objects.values().map(Object::write);
    let written: Result<Vec<_>, _> = written.collect();
    Ok((written.map_err(|error| error.to_string())?, order))
}

fn new_object(code: &ExecutableCode) -> Object<'static> {
    let mut object = Object::new(code.format, code.architecture, code.endianness);
    object.set_subsections_via_symbols();
    if code.format == BinaryFormat::MachO {
        // Any version that is not newer than that of the executable.
        let mut version = MachOBuildVersion::default();
        version.platform = macho::PLATFORM_MACOS;
        version.minos = 10 << 16;
        version.sdk = version.minos;
        object.set_macho_build_version(version);
    }
    object
}

fn add(object: &mut Object<'_>, name: &str, filler: FillerSpec, pattern: &[u8]) {
    let section = object.add_section(
        Vec::new(),
        format!(".text.{name}").into_bytes(),
        SectionKind::Text,
    );
    let flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR | elf::SHF_GNU_RETAIN;
    object.section_mut(section).flags = SectionFlags::Elf {
        sh_flags: u64::from(flags),
    };
    object.append_section_data(section, &fill(filler.size, pattern), filler.alignment);
    let symbol = new_symbol(name, 0..filler.size, section);
    object.add_symbol(symbol);
}

/// Adds a filler to the code section of a Mach-O file. The padding after it, up to the next multiple of the alignment, has another symbol, which is
/// not retained.
fn add_to_section(object: &mut Object<'_>, name: &str, filler: FillerSpec, pattern: &[u8]) {
    let section = object.section_id(StandardSection::Text);
    let room = filler.size.next_multiple_of(filler.alignment);
    let start = object.append_section_data(section, &fill(room, pattern), filler.alignment);
    let end = start + filler.size;
    let mut symbol = new_symbol(name, start..end, section);
    symbol.flags = SymbolFlags::MachO {
        n_desc: macho::N_NO_DEAD_STRIP,
    };
    object.add_symbol(symbol);
    if end < start + room {
        let rest = format!("{name}_rest");
        object.add_symbol(new_symbol(&rest, end..start + room, section));
    }
}

fn fill(size: u64, pattern: &[u8]) -> Vec<u8> {
    let bytes = pattern.iter().copied().cycle();
    bytes.take(size as usize).collect()
}

fn new_symbol(name: &str, place: Range<u64>, section: SectionId) -> Symbol {
    Symbol {
        name: name.as_bytes().to_vec(),
        value: place.start,
        size: place.end - place.start,
        kind: SymbolKind::Data,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    }
}

#[cfg(test)]
mod tests {
    use object::Endianness;
    use proptest::prelude::*;
    use std::ffi::OsString;
    use std::process::Command;

    use super::*;

    /// Returns the position in its page of each function whose name without hash is unique.
    fn places(executable: &Path) -> BTreeMap<String, u64> {
        let bytes = fs::read(executable).expect("readable");
        let found = parse_functions(&bytes).expect("names").functions;
        let alone = found.into_iter();
        let alone =
            alone.filter(|(name, all)| all.len() == 1 && !name.contains("perfcheck_filler"));
        alone
            .map(|(name, all)| (name, all[0].address % 4096))
            .collect()
    }

    /// A compiler with its flags, and the linker.
    struct TestToolchain {
        rustc: OsString,
        flags: Vec<String>,
        linker: PathBuf,
    }

    fn native() -> TestToolchain {
        TestToolchain {
            rustc: "rustc".into(),
            flags: Vec::new(),
            linker: "cc".into(),
        }
    }

    /// Builds a program in `place`; returns the link and the executable.
    fn built(place: &Path, source: &str, toolchain: &TestToolchain) -> (KeptLink, PathBuf) {
        let deps = place.join("deps");
        fs::create_dir_all(&deps).expect("made");
        let path = place.join("main.rs");
        fs::write(&path, source).expect("written");
        let executable = deps.join("main-1");
        let linker = place.join("cc");
        // Record the arguments that the stand-in sees.
        let script = format!(
            "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; case $a in *.rcgu.o|*symbols.o) ln $a $0.$(basename $a);; esac; done > $0.arguments\nexec {} \"$@\"\n",
            toolchain.linker.display()
        );
        write_script(&linker, &script);
        let mut rustc = Command::new(&toolchain.rustc);
        rustc
            .args(["-O", "--edition=2024", "-C"])
            .arg(format!("linker={}", linker.display()))
            .args(&toolchain.flags)
            .arg("-o")
            .args([&executable, &path]);
        let output = Supervisor::default().output(&mut rustc);
        let output = output.expect("rustc runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = fs::read_to_string(place.join("cc.arguments")).expect("arguments");
        let arguments: Vec<OsString> = text
            .lines()
            .map(|line| {
                let copy = place.join(format!(
                    "cc.{}",
                    Path::new(line)
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                ));
                let copied = copy.is_file();
                if copied { copy.into() } else { line.into() }
            })
            .collect();
        let links = place.join("links");
        KeptLink::keep(&links, &toolchain.linker, &arguments).expect("kept");
        let link = KeptLink::find(&links, &executable).expect("it was kept");
        (link, executable)
    }

    const BASE: &str = r#"
        use std::collections::BTreeMap;
        fn main() {
            let map: BTreeMap<String, usize> = std::env::args().map(|word| (word.clone(), word.len())).collect();
            println!("{map:?} {}", "12".parse::<u32>().unwrap());
        }
    "#;

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "functions are moved in ELF alone")]
    fn a_link_that_gives_another_executable_is_refused() {
        let place = tempfile::tempdir().expect("a directory");
        let (link, built) = built(place.path(), BASE, &native());
        let leads = Vec::new();
        let relinkable = Relinkable {
            link,
            leads,
            supervisor: Supervisor::default(),
        };
        let again = place.path().join("again");
        let bytes = fs::read(&built).expect("readable");
        relinkable
            .require_repeatable(&bytes, &again)
            .expect("the same bytes");
        let refused = relinkable.require_repeatable(&[&bytes[..], b"more"].concat(), &again);
        assert!(
            matches!(refused, Err(LinkError::Unrepeatable)),
            "{refused:?}"
        );
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "functions are moved in ELF alone")]
    fn both_sides_have_their_functions_at_the_same_places_of_pages_and_do_what_they_did() {
        let place = tempfile::tempdir().expect("a directory");
        let layouts = prepare_two(place.path(), &native()).expect("functions");
        check_places(&layouts, 0);
        let output = Supervisor::default()
            .output(&mut Command::new(layouts.executables().candidate))
            .expect("it runs");
        assert!(String::from_utf8_lossy(&output.stdout).ends_with(" 12\n"));
    }

    /// Cross-compiles for macOS and links with LLD. `tests/platforms/check.sh` sets the variables.
    #[test]
    #[ignore = "it needs a standard library for macOS"]
    fn functions_of_macos_lie_at_the_same_places_of_pages() {
        let variable = |name| std::env::var(name).expect("check.sh sets it");
        let flags = variable("PERFCHECK_TEST_MACOS_FLAGS");
        let linker = variable("PERFCHECK_TEST_MACOS_LINKER");
        let toolchain = |linker: &str| TestToolchain {
            rustc: variable("RUSTC").into(),
            flags: flags.split_whitespace().map(ToOwned::to_owned).collect(),
            linker: linker.into(),
        };
        let place = tempfile::tempdir().expect("a directory");
        let layouts = prepare_two(place.path(), &toolchain(&linker)).expect("functions");
        // Symbols of Mach-O have no sizes. If the size computed for a function is wrong, the function shifts the others on its page.
        check_places(&layouts, 80);
        // A linker that leaves functions where they are is noticed.
        let other = place.path().join("without-order");
        let script = "#!/bin/bash\nfor word; do shift; case $word in -order_file) set -- \"${@:1:$#-1}\"; skip=2;; *) if ((skip)); then ((skip--)); else set -- \"$@\" \"$word\"; fi;; esac; done\nexec LINKER \"$@\"\n";
        write_script(&other, &script.replace("LINKER", &linker));
        let refused = prepare_two(
            &place.path().join("other"),
            &toolchain(&other.display().to_string()),
        );
        assert!(matches!(refused, Err(LinkError::Unordered)), "{refused:?}");
    }

    fn write_script(path: &Path, script: &str) {
        fs::write(path, script).expect("written");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(path, mode).expect("set");
        }
    }

    /// Prepares layouts of two programs, the second of which has another function and a longer `main`.
    fn prepare_two(place: &Path, toolchain: &TestToolchain) -> Result<CodeLayouts, LinkError> {
        let (base, base_built) = built(&place.join("old"), BASE, toolchain);
        let source = BASE.replace("fn main() {", "#[unsafe(no_mangle)] pub extern \"C\" fn dead(a: u64) -> u64 { (0..a).map(|i| i ^ a).sum() }\nfn main() { dead(std::env::args().count() as u64);");
        let (candidate, candidate_built) = built(&place.join("new"), &source, toolchain);
        let relinkable = |link| Relinkable {
            link,
            leads: Vec::new(),
            supervisor: Supervisor::default(),
        };
        CodeLayouts::prepare(
            &BySide {
                base: relinkable(base),
                candidate: relinkable(candidate),
            },
            BySide {
                base: &base_built,
                candidate: &candidate_built,
            },
            &BySide {
                base: place.join("a"),
                candidate: place.join("b"),
            },
            7,
        )
    }

    /// Links twice, and checks that both sides have their functions at the same places of pages, apart from a `tolerated` number, and at other places in
    /// the second link.
    fn check_places(layouts: &CodeLayouts, tolerated: usize) {
        let mut maps = Vec::new();
        for ordinal in 0..2 {
            layouts.link(ordinal).expect("linked");
            let executables = layouts.executables();
            let (here, there) = (places(executables.base), places(executables.candidate));
            let both = here
                .iter()
                .filter_map(|(name, at)| Some((name, at, there.get(name)?)));
            let (same, other): (Vec<_>, Vec<_>) = both.partition(|(_, a, b)| a == b);
            assert!(
                same.len() > 100 && other.len() <= tolerated,
                "{} alike, {} not: {other:?}",
                same.len(),
                other.len()
            );
            maps.push(here);
        }
        let moved = maps[0].iter().filter(|(name, at)| maps[1][*name] != **at);
        assert!(moved.count() > 100);
    }

    fn side(sizes: &[(&str, u64)], hash: &str) -> Functions {
        let mut found = Functions::new();
        for (name, size) in sizes {
            found.entry((*name).to_owned()).or_default().push(Function {
                symbol: format!("{name}{hash}{size}"),
                size: *size,
                address: 0,
            });
        }
        found
    }

    /// Returns the position of each function in its page, by symbol without hash and by size.
    fn places_in_page(pieces: &[CodePiece], side: &Functions) -> BTreeMap<String, u64> {
        let sizes: BTreeMap<&str, (&str, u64)> = side
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |f| (&*f.symbol, (&**name, f.size))))
            .collect();
        let mut at = 0_u64;
        let mut found = BTreeMap::new();
        for piece in pieces {
            match piece {
                CodePiece::Filler(filler) => {
                    at = at.next_multiple_of(filler.alignment) + filler.size;
                }
                CodePiece::Function(symbol) => {
                    let (name, size) = sizes[&**symbol];
                    assert_eq!(at % STEP, 0, "the linker would align it");
                    found.insert(name.to_owned(), at % PAGE);
                    at += size;
                }
            }
        }
        found
    }

    fn empty_code(format: BinaryFormat, architecture: Architecture) -> ExecutableCode {
        ExecutableCode {
            functions: Functions::new(),
            format,
            architecture,
            endianness: Endianness::Little,
        }
    }

    #[test]
    fn fillers_for_macos_are_parts_of_sections_with_their_alignment() {
        use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _};
        let filler = |size, alignment| CodePiece::Filler(FillerSpec { size, alignment });
        let pieces = [
            filler(20, 1),
            CodePiece::Function("_f".to_owned()),
            filler(48, PAGE),
            filler(8, 1),
            filler(16, PAGE),
        ];
        let code = empty_code(BinaryFormat::MachO, Architecture::Aarch64);
        let (objects, order) = write_objects(&pieces, &code).expect("written");
        let names = [0, 1, 2, 3].map(|nth| format!("_perfcheck_filler_{nth}"));
        let [first, second, third, fourth] = &names;
        assert_eq!(order, format!("{first}\n_f\n{second}\n{third}\n{fourth}\n"));
        let found = objects.iter().map(|object| {
            let file = object::File::parse(&**object).expect("whole");
            let section = file.sections().next().expect("a section");
            let symbols = file.symbols();
            let symbols =
                symbols.map(|symbol| (symbol.name().expect("a name").to_owned(), symbol.address()));
            (section.align(), symbols.collect())
        });
        let found: Vec<(u64, BTreeMap<String, u64>)> = found.collect();
        let at = |name: &String, address| (name.clone(), address);
        let rest = |name: &String, address| (format!("{name}_rest"), address);
        let aligned = [
            at(second, 0),
            rest(second, 48),
            at(fourth, PAGE),
            rest(fourth, PAGE + 16),
        ];
        assert_eq!(
            found,
            [
                (1, BTreeMap::from([at(first, 0), at(third, 20)])),
                (PAGE, BTreeMap::from(aligned)),
            ]
        );
    }

    #[test]
    fn a_filler_consists_of_instructions_that_stop_a_program() {
        use object::read::{Object as _, ObjectSection as _};
        for (architecture, expected) in [
            (
                Architecture::X86_64,
                &[0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc][..],
            ),
            (
                Architecture::Aarch64,
                &[0x00, 0x00, 0x20, 0xd4, 0x00, 0x00][..],
            ),
        ] {
            let filler = FillerSpec {
                size: 6,
                alignment: 1,
            };
            let pieces = [CodePiece::Filler(filler)];
            let code = empty_code(BinaryFormat::Elf, architecture);
            let (objects, order) = write_objects(&pieces, &code).expect("written");
            let file = object::File::parse(&*objects[0]).expect("whole");
            let section = file.section_by_name(".text.perfcheck_filler_0");
            let found = section
                .expect("it is there")
                .data()
                .expect("whole")
                .to_vec();
            assert_eq!((&*found, &*order), (expected, "perfcheck_filler_0\n"));
        }
    }

    fn both(sides: &BySide<Functions>) -> BySide<&Functions> {
        BySide {
            base: &sides.base,
            candidate: &sides.candidate,
        }
    }

    proptest! {
        #[test]
        fn what_both_sides_have_lies_at_the_same_place_of_a_page(
            sizes in prop::collection::vec((1_u64..9000, 0_u64..300, 0_u8..6), 1..80),
            seed in 0_u64..1000,
            ordinal in 0_u32..10,
        ) {
            let names: Vec<String> = (0..sizes.len()).map(|i| format!("f{i}")).collect();
            let (mut base, mut candidate) = (Vec::new(), Vec::new());
            for (name, (size, growth, kind)) in names.iter().zip(&sizes) {
                if *kind != 0 { base.push((&**name, *size)); }
                if *kind != 1 { candidate.push((&**name, size + if *kind == 2 { *growth } else { 0 })); }
            }
            let sides = BySide { base: side(&base, "h1"), candidate: side(&candidate, "h2") };
            let map = draw_map(both(&sides), seed, ordinal);
            let found = [places_in_page(&map.base, &sides.base), places_in_page(&map.candidate, &sides.candidate)];
            prop_assert_eq!(found[0].len(), base.len());
            prop_assert_eq!(found[1].len(), candidate.len());
            for (name, place) in &found[0] {
                if let Some(other) = found[1].get(name) {
                    prop_assert_eq!(place, other, "{}", name);
                }
            }
        }
    }

    #[test]
    fn every_map_has_another_order_and_the_same_ordinal_the_same_map() {
        let sizes: Vec<(String, u64)> = (0..40).map(|i| (format!("f{i}"), 100 + i)).collect();
        let sizes: Vec<(&str, u64)> = sizes.iter().map(|(name, size)| (&**name, *size)).collect();
        let sides = BySide {
            base: side(&sizes, "a"),
            candidate: side(&sizes, "b"),
        };
        let map = draw_map(both(&sides), 3, 1);
        assert_eq!(map, draw_map(both(&sides), 3, 1));
        assert_ne!(map, draw_map(both(&sides), 3, 2));
        assert_ne!(map, draw_map(both(&sides), 4, 1));
    }

    #[test]
    fn a_function_that_is_not_what_its_symbol_says_shifts_its_own_page_alone() {
        // 40 functions of 400 bytes: nine or ten fit on a page.
        let sizes: Vec<(String, u64)> = (0..40).map(|i| (format!("f{i}"), 400)).collect();
        let sizes: Vec<(&str, u64)> = sizes.iter().map(|(name, size)| (&**name, *size)).collect();
        let sides = BySide {
            base: side(&sizes, "a"),
            candidate: side(&sizes, "b"),
        };
        let map = draw_map(both(&sides), 3, 1);
        let mut larger = sides.base.clone();
        larger.get_mut("f7").expect("it is there")[0].size += 64;
        let (expected, real) = (
            places_in_page(&map.base, &sides.base),
            places_in_page(&map.base, &larger),
        );
        let moved = expected
            .iter()
            .filter(|(name, place)| real[*name] != **place);
        assert!(moved.count() < 11);
    }
}
