//! Stands in for cargo's linker to record how executables are linked, and repeats these links with additional arguments.
//!
//! Libraries that are named without a path are not kept. A link is therefore used only if repeating it gives the same executable.

#![expect(
    clippy::disallowed_methods,
    reason = "it is the linker of a build: it starts the real one"
)]

use object::{Architecture, BinaryFormat};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

use perfcheck_host::process::{RunError, Supervisor};

const RECORD: &str = "link.json";

/// An argument of the linker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum LinkArgument {
    /// An argument that is passed on unchanged.
    Plain(String),
    /// A file in the folder of the link.
    Kept(String),
    /// The path of the executable to write.
    Output,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LinkRecord {
    linker: PathBuf,
    directory: PathBuf,
    arguments: Vec<LinkArgument>,
}

/// An order of functions, and how the linker is told to follow it.
#[derive(Debug)]
pub(super) struct SymbolOrder<'p> {
    /// A file with the symbols of functions and fillers, one on each line.
    pub(super) symbols: &'p Path,
    /// Object files with the fillers.
    pub(super) fillers: &'p [PathBuf],
    pub(super) architecture: Architecture,
}

/// Returns the options for linkers of a `format`: without debug information, and with the `order` if there is one.
///
/// The linkers of Linux and of macOS have different options. Those of Windows are never asked (see [`is_relinkable`]).
fn linker_options(format: BinaryFormat, order: Option<&SymbolOrder<'_>>) -> Vec<OsString> {
    let is_macho = format == BinaryFormat::MachO;
    // Writing debug information takes three quarters of the time of a link.
    let mut options = vec![OsString::from(if is_macho {
        "-S"
    } else {
        "--strip-debug"
    })];
    let Some(order) = order else { return options };
    if is_macho {
        options.push("-order_file".into());
        options.push(order.symbols.into());
        return options;
    }
    options.push(join_option(
        "--symbol-ordering-file=",
        order.symbols.as_os_str(),
    ));
    options.push("--no-warn-symbol-ordering".into());
    // Linkers use shorter instructions for addresses that are near. On two sides with different distances, equal functions would then differ.
    if order.architecture == Architecture::Aarch64 {
        options.push("--no-relax".into());
    }
    options
}

/// A link whose inputs were kept.
///
/// ```text
/// NAME/
///   link.json   the linker and its arguments in order
///   0, 1, ...   the input files that a later build would overwrite
/// ```
#[derive(Debug, Clone)]
pub struct KeptLink {
    folder: PathBuf,
    record: LinkRecord,
}

impl KeptLink {
    /// Keeps a link that has just succeeded, if it wrote an executable in cargo's directory `deps`.
    pub(super) fn keep(links: &Path, linker: &Path, arguments: &[OsString]) -> io::Result<()> {
        let Some((output, executable)) = find_output(arguments) else {
            return Ok(());
        };
        let folder = links.join(executable.file_name().unwrap_or_default());
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        // Rust libraries outside the workspace's folder are not copied, because our builds do not overwrite them.
        let workspace = links.parent().unwrap_or(links);
        let mut kept = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            let path = Path::new(argument);
            let is_passing =
                path.starts_with(workspace) || path.extension() != Some(OsStr::new("rlib"));
            kept.push(if at == output {
                LinkArgument::Output
            } else if path.is_absolute() && is_passing && path.is_file() {
                let name = at.to_string();
                let copy = folder.join(&name);
                link_or_copy(path, &copy)?;
                LinkArgument::Kept(name)
            } else {
                let Some(text) = argument.to_str() else {
                    return fs::remove_dir_all(&folder);
                };
                LinkArgument::Plain(text.to_owned())
            });
        }
        let record = LinkRecord {
            linker: linker.to_owned(),
            directory: std::env::current_dir()?,
            arguments: kept,
        };
        fs::write(folder.join(RECORD), serde_json::to_vec(&record)?)
    }

    /// Returns the link of `executable`, if it was kept in `links`.
    pub(crate) fn find(links: &Path, executable: &Path) -> Option<Self> {
        Self::read(&links.join(executable.file_name()?))
    }

    /// Reads the link in `folder`.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(RECORD)).ok()?;
        let record = serde_json::from_slice(&text).ok()?;
        Some(Self {
            folder: folder.to_owned(),
            record,
        })
    }

    /// Copies the link into the folder `to`, with hard links if possible.
    pub(crate) fn copy_to(&self, to: &Path) -> io::Result<()> {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let copy = to.join(path.file_name().unwrap_or_default());
            link_or_copy(&path, &copy)?;
        }
        Ok(())
    }

    /// Links `executable` with the original arguments.
    pub(super) fn repeat(
        &self,
        executable: &Path,
        supervisor: &Supervisor,
    ) -> Result<(), LinkError> {
        self.link(executable, |_| true, Vec::new(), supervisor)
    }

    /// Links `executable` of this `format` with all names of functions, and with functions in the `order` if there is one. Original options that
    /// strip names or order functions are dropped. Debug information is omitted.
    pub(super) fn repeat_with(
        &self,
        executable: &Path,
        format: BinaryFormat,
        order: Option<&SymbolOrder<'_>>,
        supervisor: &Supervisor,
    ) -> Result<(), LinkError> {
        let is_driver = self.takes_arguments_of_a_compiler();
        let mut arguments: Vec<OsString> = Vec::new();
        if format == BinaryFormat::Elf
            && let Some(linker) = self.bundled_linker_if_unused()
        {
            let directory = linker.parent().unwrap_or(&linker);
            arguments.push(join_option("-B", directory.as_os_str()));
            arguments.push("-fuse-ld=lld".into());
        }
        for option in linker_options(format, order) {
            if is_driver {
                // After `-Wl,`, a comma in a path would begin another option.
                arguments.push("-Xlinker".into());
            }
            arguments.push(option);
        }
        let fillers = order.map_or(&[][..], |order| order.fillers);
        arguments.extend(fillers.iter().map(OsString::from));
        let is_ours = |argument: &str| {
            let option = argument.strip_prefix("-Wl,").unwrap_or(argument);
            matches!(option, "-s" | "--strip-all")
                || option.starts_with("--shuffle-sections")
                || option.starts_with("--symbol-ordering-file")
        };
        self.link(
            executable,
            |argument| !is_ours(argument),
            arguments,
            supervisor,
        )
    }

    fn link(
        &self,
        executable: &Path,
        wanted: impl Fn(&str) -> bool,
        further: Vec<OsString>,
        supervisor: &Supervisor,
    ) -> Result<(), LinkError> {
        // macOS remembers the signature of a file, and refuses to start other code from the same file.
        let _ = fs::remove_file(executable);
        let mut command = Command::new(&self.record.linker);
        if self.record.directory.is_dir() {
            command.current_dir(&self.record.directory);
        }
        for argument in &self.record.arguments {
            match argument {
                LinkArgument::Plain(text) => command.args(wanted(text).then_some(text)),
                LinkArgument::Kept(name) => command.arg(self.folder.join(name)),
                LinkArgument::Output => command.arg(executable),
            };
        }
        let output = supervisor.output(command.args(further));
        let output = output.map_err(|error| match error {
            RunError::Start(source) => file_error("cannot start", &self.record.linker)(source),
            RunError::Interrupted => LinkError::Interrupted,
        })?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        Err(LinkError::Linker {
            program: self.record.linker.clone(),
            message: message
                .trim()
                .lines()
                .next_back()
                .unwrap_or("it printed nothing")
                .to_owned(),
        })
    }

    /// Reports whether the linker is called through a compiler such as `cc`.
    fn takes_arguments_of_a_compiler(&self) -> bool {
        let name = self.record.linker.file_stem().unwrap_or_default();
        let name = name.to_string_lossy();
        let is_linker = matches!(&*name, "ld" | "ld64" | "ld-classic");
        !(is_linker || name.ends_with("lld") || name.starts_with("ld.") || name.ends_with("-ld"))
    }

    /// Returns the linker that comes with the toolchain, if the link did not use it.
    fn bundled_linker_if_unused(&self) -> Option<PathBuf> {
        let plain = self
            .record
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                LinkArgument::Plain(text) => Some(text),
                LinkArgument::Kept(_) | LinkArgument::Output => None,
            });
        if !self.takes_arguments_of_a_compiler() || plain.clone().any(|text| text == "-fuse-ld=lld")
        {
            return None;
        }
        plain
            .filter_map(|text| Path::new(text).parent())
            .find_map(bundled_linker)
    }
}

fn join_option(option: &str, value: &OsStr) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}

/// Returns the output and its position among the arguments, if it is an executable in cargo's `deps`.
fn find_output(arguments: &[OsString]) -> Option<(usize, PathBuf)> {
    let others = ["-shared", "-r", "-dynamiclib", "-dylib", "-bundle"];
    if arguments
        .iter()
        .any(|argument| others.iter().any(|other| argument == other))
    {
        return None;
    }
    let option = arguments.iter().position(|argument| argument == "-o")?;
    let executable = PathBuf::from(arguments.get(option + 1)?);
    let is_dependency = executable.parent()?.file_name()? == "deps";
    is_dependency.then_some((option + 1, executable))
}

fn link_or_copy(file: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(file, to).or_else(|_| fs::copy(file, to).map(|_| ()))
}

/// Returns the linker that comes with a toolchain, given the directory of the toolchain's libraries for a target.
pub fn bundled_linker(target_libraries: &Path) -> Option<PathBuf> {
    // SYSROOT/lib/rustlib/TARGET/lib, SYSROOT/lib/rustlib/TARGET/bin/gcc-ld/ld.lld
    let linker = target_libraries.parent()?.join("bin/gcc-ld/ld.lld");
    linker.is_file().then_some(linker)
}

/// Reports whether executables for `target` can be linked again with their functions in another order, if their linker allows it.
///
/// On Windows they cannot. For `windows-gnu`, rustc puts all functions of a codegen unit into one section, which linkers move only as a whole. With
/// Microsoft's tools, the names of functions are in another file.
pub(crate) fn is_relinkable(target: &str) -> bool {
    target.contains("-linux-") || target.ends_with("-apple-darwin")
}

/// Environment variable with the path of the folder of kept links. The stand-in for the linker is inside this folder, so a process started from
/// another path is not taken for the stand-in.
const FOLDER_VARIABLE: &str = "PERFCHECK_LINKS";
/// Environment variable with the path of the real linker.
const LINKER_VARIABLE: &str = "PERFCHECK_LINKER";
/// Name of the directory of stand-ins in the folder of kept links.
const STAND_INS: &str = "linkers";
/// Maximum number of kept links of executables in the target directory.
const MOST_LINKS: usize = 64;

/// Links in place of the real linker and returns its exit status. Returns `None` if this process was not started as a stand-in for the linker.
///
/// Rustc removes the object files of a crate right after the link, so they must be copied while the linker runs. The stand-in is this program. Rustc
/// starts it under the name of the real linker, because rustc infers from the name how to pass arguments.
pub fn run_as_linker(arguments: &[OsString]) -> Option<Result<ExitCode, LinkError>> {
    let (own, rest) = arguments.split_first()?;
    let folder = PathBuf::from(std::env::var_os(FOLDER_VARIABLE)?);
    let linker = PathBuf::from(std::env::var_os(LINKER_VARIABLE)?);
    if !Path::new(own).starts_with(folder.join(STAND_INS)) {
        return None;
    }
    let status = match Command::new(&linker).args(rest).status() {
        Ok(status) => status,
        Err(error) => return Some(Err(file_error("cannot start the linker", &linker)(error))),
    };
    if status.success() {
        // Ignore a failure to keep the link. The only consequence is that the executable cannot be linked again.
        let _ = KeptLink::keep(&folder, &linker, rest);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Some(Ok(code.map_or(ExitCode::FAILURE, ExitCode::from)))
}

/// The installed stand-in for the linker, and the values for its environment variables.
pub(crate) struct LinkRecorder {
    folder: PathBuf,
    linker: PathBuf,
    stand_in: PathBuf,
}

impl LinkRecorder {
    /// Installs `program`, which calls [`run_as_linker`], in `folder` as the stand-in of `linker`.
    pub(crate) fn install(folder: &Path, linker: &Path, program: &Path) -> Result<Self, LinkError> {
        let stand_ins = folder.join(STAND_INS);
        std::fs::create_dir_all(&stand_ins).map_err(file_error("cannot make", &stand_ins))?;
        let name = linker.file_name().unwrap_or(OsStr::new("cc"));
        let stand_in = stand_ins.join(name);
        if std::fs::read_link(&stand_in).ok().as_deref() != Some(program) {
            let _ = std::fs::remove_file(&stand_in);
            perfcheck_host::os::create_link(program, &stand_in)
                .map_err(file_error("cannot make", &stand_in))?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            linker: linker.to_owned(),
            stand_in,
        })
    }

    /// Removes all links except the newest [`MOST_LINKS`].
    pub(crate) fn prune(&self) {
        let entries = std::fs::read_dir(&self.folder);
        let mut by_age: Vec<_> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let time = std::fs::metadata(&path).ok()?.modified().ok()?;
                (!path.ends_with(STAND_INS)).then_some((time, path))
            })
            .collect();
        by_age.sort();
        for (_, path) in by_age.iter().rev().skip(MOST_LINKS) {
            // The next build tries again to remove it.
            let _ = std::fs::remove_dir_all(path);
        }
    }

    /// Returns the variables that make cargo use the stand-in for `target`.
    pub(crate) fn variables(&self, target: &str) -> [(String, OsString); 3] {
        let name = target.to_uppercase().replace(['-', '.'], "_");
        [
            (
                format!("CARGO_TARGET_{name}_LINKER"),
                self.stand_in.clone().into(),
            ),
            (FOLDER_VARIABLE.to_owned(), self.folder.clone().into()),
            (LINKER_VARIABLE.to_owned(), self.linker.clone().into()),
        ]
    }
}

/// The reason why an executable cannot be linked with another layout.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A file could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// The failed action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The linker failed.
    #[error("the linker `{}` failed: {message}", program.display())]
    Linker {
        /// Path of the linker.
        program: PathBuf,
        /// Last line of its output.
        message: String,
    },
    /// The linker does not put functions into the order that it is told.
    #[error("the linker does not put functions into a given order")]
    Unordered,
    /// Repeating the link gives a different executable, or the inputs of the link were not kept.
    #[error("linking the bench again does not give the same executable")]
    Unrepeatable,
    /// The functions of the executable cannot be determined.
    #[error("{}: {why}", path.display())]
    Functions {
        /// The executable.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Returns a function that turns an I/O error about `path` into a [`LinkError`].
pub(super) fn file_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LinkError {
    let path = path.to_owned();
    move |source| LinkError::File {
        action,
        path,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_of_executables_in_deps_are_kept() {
        let arguments =
            |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        let found = find_output(&arguments("a.o -o /t/release/deps/bench-1 -pie"));
        assert_eq!(found, Some((2, PathBuf::from("/t/release/deps/bench-1"))));
        assert_eq!(
            find_output(&arguments("a.o -o /t/release/build/x/build_script_build-1")),
            None
        );
        assert_eq!(
            find_output(&arguments("-shared a.o -o /t/release/deps/libm.so")),
            None
        );
        assert_eq!(
            find_output(&arguments("-dynamiclib a.o -o /t/release/deps/libm.dylib")),
            None
        );
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "links are kept for Linux alone")]
    fn a_kept_link_is_repeated_after_its_objects_are_gone() {
        let place = tempfile::tempdir().expect("a directory");
        let links = place.path().join("links");
        let deps = place.path().join("deps");
        fs::create_dir_all(&deps).expect("made");
        let source = place.path().join("a.c");
        fs::write(&source, "int main(void) { return 0; }").expect("written");
        let object = deps.join("a.o");
        let cc = |arguments: &[&OsStr]| {
            let output = Supervisor::default().output(Command::new("cc").args(arguments));
            assert!(output.expect("cc runs").status.success());
        };
        cc(&[
            "-c".as_ref(),
            source.as_ref(),
            "-o".as_ref(),
            object.as_ref(),
        ]);
        let executable = deps.join("a-1");
        let arguments: [&OsStr; 3] = [object.as_ref(), "-o".as_ref(), executable.as_ref()];
        cc(&arguments);
        let owned: Vec<OsString> = arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect();
        KeptLink::keep(&links, Path::new("cc"), &owned).expect("kept");
        fs::remove_file(&object).expect("removed");
        let link = KeptLink::find(&links, &executable).expect("it was kept");
        let moved = place.path().join("moved");
        link.copy_to(&moved).expect("copied");
        fs::remove_dir_all(&links).expect("removed");
        let again = deps.join("again");
        let link = KeptLink::read(&moved).expect("whole");
        link.repeat(&again, &Supervisor::default()).expect("linked");
        assert_eq!(
            fs::read(&again).expect("read"),
            fs::read(&executable).expect("read")
        );
        fs::remove_file(moved.join("0")).expect("removed");
        let error = link
            .repeat(&again, &Supervisor::default())
            .expect_err("its object is gone")
            .to_string();
        assert!(error.starts_with("the linker `cc` failed: "), "{error}");
    }
}
