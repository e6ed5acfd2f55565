//! Which dynamic libraries of the workspace an executable needs: those must be kept with it.
//!
//! Follows the search of the dynamic linker (ld.so(8)) as far as it leads into the given directories. Libraries of
//! the system are not looked into, and what a program loads by itself with `dlopen` is not seen. ELF alone is
//! understood; anything else has no answer.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader32, FileHeader64};
use object::read::elf::FileHeader;
use object::read::{ReadCache, ReadRef};
use object::{Endianness, FileKind};

use perfcheck_analysis::model::PrivateLibrary;

/// What an executable needs of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Libraries {
    /// Libraries below the given directories, sorted by name.
    pub private: Vec<PrivateLibrary>,
    /// Those of them that the dynamic linker takes from the place where they were, whatever the library path says: a
    /// kept copy would not be used.
    pub fixed: Vec<PathBuf>,
}

/// The private libraries of `executable`, when it is started in `directory` with this `library_path`: those that lie
/// below one of `below`. `None`: the file cannot be read, or is of a format that we do not understand.
pub fn private_libraries(
    executable: &Path,
    directory: &Path,
    library_path: &OsStr,
    below: &[PathBuf],
) -> Option<Libraries> {
    let below: Vec<PathBuf> = below
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let search: Vec<PathBuf> = std::env::split_paths(library_path)
        .map(|path| directory.join(path))
        .collect();
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut fixed = Vec::new();
    let mut left: VecDeque<(PathBuf, Vec<PathBuf>)> = [(executable.to_owned(), Vec::new())].into();
    let mut is_executable = true;
    while let Some((path, inherited)) = left.pop_front() {
        let wants = match Wants::of(&path) {
            Some(wants) => wants,
            None if is_executable => return None,
            // Kept all the same; what it needs in turn is not known.
            None => continue,
        };
        is_executable = false;
        let rpath = [wants.rpath, inherited].concat();
        for name in wants.libraries {
            if found.contains_key(&name) {
                continue;
            }
            let places = LibraryPlaces {
                rpath: if wants.runpath.is_empty() {
                    &rpath
                } else {
                    &[]
                },
                library_path: &search,
                runpath: &wants.runpath,
            };
            let Some((library, place)) = places.find(&name, directory) else {
                continue;
            };
            let is_private = library
                .canonicalize()
                .is_ok_and(|library| below.iter().any(|root| library.starts_with(root)));
            if is_private {
                if place == LibraryPathRole::Fixed {
                    fixed.push(library.clone());
                }
                found.insert(name, library.clone());
                left.push_back((library, rpath.clone()));
            }
        }
    }
    fixed.sort();
    Some(Libraries {
        private: found
            .into_iter()
            .map(|(name, path)| PrivateLibrary {
                name: file_name(&name),
                path,
            })
            .collect(),
        fixed,
    })
}

/// The last part of what is asked for, which may be a path.
fn file_name(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

/// Whether the library path has a say in where a library is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LibraryPathRole {
    Fixed,
    Searched,
}

/// Where a library is looked for, in this order.
struct LibraryPlaces<'a> {
    rpath: &'a [PathBuf],
    library_path: &'a [PathBuf],
    runpath: &'a [PathBuf],
}

impl LibraryPlaces<'_> {
    fn find(&self, name: &str, directory: &Path) -> Option<(PathBuf, LibraryPathRole)> {
        if name.contains('/') {
            let path = directory.join(name);
            return path.is_file().then_some((path, LibraryPathRole::Fixed));
        }
        let fixed = self
            .rpath
            .iter()
            .map(|place| (place, LibraryPathRole::Fixed));
        let searched = self
            .library_path
            .iter()
            .chain(self.runpath)
            .map(|place| (place, LibraryPathRole::Searched));
        fixed
            .chain(searched)
            .map(|(directory, place)| (directory.join(name), place))
            .find(|(path, _)| path.is_file())
    }
}

/// What the dynamic section of an executable or library asks for.
#[derive(Default)]
struct Wants {
    libraries: Vec<String>,
    rpath: Vec<PathBuf>,
    runpath: Vec<PathBuf>,
}

impl Wants {
    /// Reads the few pages that say it, not the whole file.
    fn of(path: &Path) -> Option<Self> {
        let file = ReadCache::new(File::open(path).ok()?);
        match FileKind::parse(&file).ok()? {
            FileKind::Elf64 => Self::of_elf::<FileHeader64<Endianness>, _>(&file, path),
            FileKind::Elf32 => Self::of_elf::<FileHeader32<Endianness>, _>(&file, path),
            _ => None,
        }
    }

    fn of_elf<'a, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'a>>(
        file: R,
        path: &Path,
    ) -> Option<Self> {
        let header = Elf::parse(file).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, file).ok()?;
        let dynamic = sections.dynamic_table(endian, file).ok()?;
        let origin = path.parent().unwrap_or(path);
        let mut wants = Self::default();
        for entry in &dynamic {
            let text = || {
                let bytes = dynamic.string(entry).ok()?;
                Some(String::from_utf8_lossy(bytes).into_owned())
            };
            match entry.tag {
                DT_NEEDED => wants.libraries.extend(text()),
                DT_RPATH => wants.rpath = directories(&text()?, origin),
                DT_RUNPATH => wants.runpath = directories(&text()?, origin),
                _ => {}
            }
        }
        Some(wants)
    }
}

/// The directories of a search path that is written into a file; `$ORIGIN` is the directory of that file.
fn directories(path: &str, origin: &Path) -> Vec<PathBuf> {
    let origin = OsString::from(origin);
    path.split(':')
        .filter(|directory| !directory.is_empty())
        .map(|directory| {
            let mut expanded = OsString::new();
            let directory = directory.replace("${ORIGIN}", "$ORIGIN");
            for (number, part) in directory.split("$ORIGIN").enumerate() {
                if number > 0 {
                    expanded.push(&origin);
                }
                expanded.push(part);
            }
            expanded.into()
        })
        .collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    /// Compiles a shared library or an executable that calls `f` of the libraries named.
    fn compile(directory: &Path, output: &str, calls: &[&str], arguments: &[&str]) -> PathBuf {
        let path = directory.join(output);
        let name = output.trim_start_matches("lib").trim_end_matches(".so");
        let (head, kind) = if output.starts_with("lib") {
            (format!("int {name}(void)"), "-shared")
        } else {
            ("int main(void)".to_owned(), "-no-pie")
        };
        let each = |line: fn(&&str) -> String| calls.iter().map(line).collect::<Vec<_>>().concat();
        let declared = each(|f| format!("int {f}(void);"));
        let called = each(|f| format!(" + {f}()"));
        let source = directory.join(format!("{name}.c"));
        fs::write(
            &source,
            format!("{declared}\n{head} {{ return 0{called}; }}\n"),
        )
        .expect("writes");
        let libraries = calls.iter().map(|f| format!("-l{f}"));
        let output = Command::new("cc")
            .args(["-fPIC", kind, "-o"])
            .arg(&path)
            .arg(source)
            .arg("-L")
            .arg(directory)
            .args(libraries)
            .args(arguments)
            .output()
            .expect("a C compiler, as linking Rust takes one");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        path
    }

    fn private(name: &str, path: &Path) -> PrivateLibrary {
        PrivateLibrary {
            name: name.to_owned(),
            path: path.to_owned(),
        }
    }

    #[test]
    fn libraries_below_the_workspace_are_found_with_what_they_need_in_turn() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let place = directory.path();
        let inner = compile(place, "libinner.so", &[], &[]);
        let outer = compile(place, "libouter.so", &["inner"], &[]);
        let linked = format!("-Wl,-rpath-link,{}", place.display());
        let bench = compile(place, "bench", &["outer"], &[&linked]);
        let below = [place.to_owned()];
        let path = place.as_os_str();
        let found = private_libraries(&bench, Path::new("/"), path, &below).expect("ELF");
        // The C library is there, too, and is the system's.
        assert_eq!(
            found.private,
            [
                private("libinner.so", &inner),
                private("libouter.so", &outer)
            ]
        );
        assert_eq!(found.fixed, [""; 0].map(PathBuf::from));
        // Without the library path nothing is found, and nothing outside of the workspace is private.
        for (path, below) in [
            ("", place),
            (place.to_str().expect("text"), Path::new("/usr")),
        ] {
            let found =
                private_libraries(&bench, Path::new("/"), path.as_ref(), &[below.to_owned()]);
            assert_eq!(found, Some(Libraries::default()));
        }
    }

    #[test]
    fn what_is_written_into_the_executable_comes_before_or_after_the_library_path() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let place = directory.path();
        let library = compile(place, "libinner.so", &[], &[]);
        let elsewhere = place.join("elsewhere");
        fs::create_dir(&elsewhere).expect("creates");
        let copy = elsewhere.join("libinner.so");
        fs::copy(&library, &copy).expect("copies");
        let below = [place.to_owned()];
        let origin = "-Wl,-rpath,$ORIGIN";
        for (tags, expected, fixed) in [
            ("-Wl,--enable-new-dtags", &copy, vec![]),
            ("-Wl,--disable-new-dtags", &library, vec![library.clone()]),
        ] {
            let bench = compile(place, "bench", &["inner"], &[origin, tags]);
            let path = elsewhere.as_os_str();
            let found = private_libraries(&bench, Path::new("/"), path, &below).expect("ELF");
            assert_eq!(found.private, [private("libinner.so", expected)]);
            assert_eq!(found.fixed, fixed);
        }
    }

    #[test]
    fn a_file_of_another_format_has_no_answer_and_a_static_executable_needs_nothing() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let script = directory.path().join("script");
        fs::write(&script, "#!/bin/sh\n").expect("writes");
        for path in [script, directory.path().join("not there")] {
            assert_eq!(
                private_libraries(&path, Path::new("/"), "".as_ref(), &[]),
                None
            );
        }
        let alone = compile(
            directory.path(),
            "alone",
            &[],
            &["-static-pie", "-nostdlib", "-Wl,-emain"],
        );
        let found = private_libraries(&alone, Path::new("/"), "".as_ref(), &[]);
        assert_eq!(found, Some(Libraries::default()));
    }

    #[test]
    fn a_damaged_executable_asks_for_libraries_or_for_none() {
        const WHOLE: &[u8] = include_bytes!("../../../code/tests/corpus/small.elf");
        fn wants<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Wants> {
            Wants::of_elf::<Elf, _>(bytes, Path::new("/w/small"))
        }
        let found = wants::<FileHeader64<Endianness>>(WHOLE).expect("it is whole");
        assert_eq!(found.libraries, ["libc.so.6"]);
        assert_eq!(found.runpath, [Path::new("/w/lib")]);
        crate::mutations::attack("libraries", &[WHOLE.to_vec()], |bytes| {
            drop(wants::<FileHeader64<Endianness>>(bytes));
            drop(wants::<FileHeader32<Endianness>>(bytes));
        });
    }
}
