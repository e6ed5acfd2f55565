//! Executables of both sides, linked with one layout after another.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use super::error::{LinkError, file_error};
use super::filler;
use super::functions::{ExecutableCode, parse_functions};
use super::kept::KeptLink;
use super::leads::{self, PathRewrite};
use super::places::{CodePiece, draw_map};
use crate::process::{Supervisor, start_scoped_work};
use perfcheck_analysis::model::BySide;

/// An executable that can be linked again.
#[derive(Debug, Clone)]
pub struct Relinkable {
    /// Its kept link.
    pub(crate) link: KeptLink,
    /// The rewrites of paths in it, which make it find the files of its side.
    pub(crate) leads: Vec<PathRewrite>,
    /// Starts the linker.
    pub(crate) supervisor: Supervisor,
}

/// The executables of both sides, which can be linked with any number of layouts.
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
    /// Fails if repeating the link at `place` does not give the bytes that were `built`.
    fn require_repeatable(&self, built: &[u8], place: &Path) -> Result<(), LinkError> {
        self.link.repeat(place, &self.supervisor)?;
        self.rewrite_paths(place)?;
        if read(place)? != built {
            return Err(LinkError::Unrepeatable);
        }
        Ok(())
    }

    /// Rewrites the paths in an executable as in the one that was built.
    fn rewrite_paths(&self, executable: &Path) -> Result<(), LinkError> {
        leads::apply_all(&self.leads, executable)
            .map_err(file_error("cannot lead paths in", executable))
    }
}

impl LinkedSide {
    /// Finds the functions of the executable that was `built`. If it was stripped, links another with all names.
    fn prepare(from: Relinkable, built: &Path, executable: PathBuf) -> Result<Self, LinkError> {
        let functions = |path: &Path, bytes: &[u8]| {
            parse_functions(bytes).map_err(|why| LinkError::Functions {
                path: path.to_owned(),
                why,
            })
        };
        let bytes = read(built)?;
        from.require_repeatable(&bytes, &executable)?;
        let found = functions(built, &bytes).or_else(|_| {
            from.link.repeat_with(&executable, &[], &from.supervisor)?;
            functions(&executable, &read(&executable)?)
        });
        Ok(Self {
            code: found?,
            from,
            executable,
        })
    }

    fn link(&self, pieces: &[CodePiece]) -> Result<(), LinkError> {
        let written = filler::write_object(pieces, self.code.architecture, self.code.endianness);
        let (object, order) = written.map_err(|why| LinkError::Functions {
            path: self.executable.clone(),
            why,
        })?;
        let fillers = self.executable.with_added_extension("fillers.o");
        let ordering = self.executable.with_added_extension("order");
        fs::write(&fillers, object).map_err(file_error("cannot write", &fillers))?;
        fs::write(&ordering, order).map_err(file_error("cannot write", &ordering))?;
        let further = [
            ("", &*fillers),
            ("--symbol-ordering-file=", &*ordering),
            ("--no-warn-symbol-ordering", Path::new("")),
        ];
        (self.from.link).repeat_with(&self.executable, &further, &self.from.supervisor)?;
        self.from.rewrite_paths(&self.executable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::process::Command;

    /// Returns the names, without hashes, that belong to one function only, with the functions' addresses in the page.
    fn places(executable: &Path) -> BTreeMap<String, u64> {
        let bytes = fs::read(executable).expect("readable");
        let found = parse_functions(&bytes).expect("names").functions;
        let alone = found.into_iter().filter(|(_, all)| all.len() == 1);
        alone
            .map(|(name, all)| (name, all[0].address % 4096))
            .collect()
    }

    /// Builds a program in `place`; returns the link and the executable.
    fn built(place: &Path, source: &str) -> (KeptLink, PathBuf) {
        let deps = place.join("deps");
        fs::create_dir_all(&deps).expect("made");
        let path = place.join("main.rs");
        fs::write(&path, source).expect("written");
        let executable = deps.join("main-1");
        let linker = place.join("cc");
        // Record the arguments that the stand-in sees.
        let script = "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; case $a in *.rcgu.o|*symbols.o) ln $a $0.$(basename $a);; esac; done > $0.arguments\nexec cc \"$@\"\n";
        fs::write(&linker, script).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&linker, mode).expect("set");
        let mut rustc = Command::new("rustc");
        rustc
            .args(["-O", "--edition=2024", "-C"])
            .arg(format!("linker={}", linker.display()))
            .arg("-o")
            .args([&executable, &path]);
        let output = Supervisor::default().output(&mut rustc);
        assert!(output.expect("rustc runs").status.success());
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
        KeptLink::keep(&links, Path::new("cc"), &arguments).expect("kept");
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
    fn a_link_that_gives_another_executable_is_refused() {
        let place = tempfile::tempdir().expect("a directory");
        let (link, built) = built(place.path(), BASE);
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
    fn both_sides_have_their_functions_at_the_same_places_of_pages_and_do_what_they_did() {
        let place = tempfile::tempdir().expect("a directory");
        let (old, new) = (place.path().join("old"), place.path().join("new"));
        let (base, base_built) = built(&old, BASE);
        // The candidate has another function and a longer `main`.
        let source = BASE.replace("fn main() {", "#[unsafe(no_mangle)] pub extern \"C\" fn dead(a: u64) -> u64 { (0..a).map(|i| i ^ a).sum() }\nfn main() { dead(std::env::args().count() as u64);");
        let (candidate, candidate_built) = built(&new, &source);
        let relinkable = |link| Relinkable {
            link,
            leads: Vec::new(),
            supervisor: Supervisor::default(),
        };
        let layouts = CodeLayouts::prepare(
            &BySide {
                base: relinkable(base),
                candidate: relinkable(candidate),
            },
            BySide {
                base: &base_built,
                candidate: &candidate_built,
            },
            &BySide {
                base: place.path().join("a"),
                candidate: place.path().join("b"),
            },
            7,
        )
        .expect("functions");
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
                same.len() > 100 && other.is_empty(),
                "{} alike, not {other:?}",
                same.len()
            );
            let output = Supervisor::default()
                .output(&mut Command::new(executables.candidate))
                .expect("it runs");
            assert!(String::from_utf8_lossy(&output.stdout).ends_with(" 12\n"));
            maps.push(here);
        }
        let moved = maps[0].iter().filter(|(name, at)| maps[1][*name] != **at);
        assert!(moved.count() > 100);
    }
}
