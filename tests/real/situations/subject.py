"""A small crate on the harness of this repository, and `cargo perfcheck` run on it."""

import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parents[3]
LONGEST = 300
# Options for a quick measurement. It need not be exact, because no situation is about the measured times.
QUICK = ["--rounds", "1", "--samples", "4", "--measurement-time", "4ms", "--warm-up-time", "1ms", "--fail-on", "none"]
# Options for a quick comparison of two builds. Five rounds are the minimum, and they are enough to find a benchmark that does ten times the work.
QUICK_BESIDE = ["--rounds", "5", "--instructions", "never"]
# Variables by which the shell or a CI system would change how cargo, git or the tool work. They are removed.
FOREIGN = re.compile(r"PERFCHECK_|CARGO_(?!HOME$)|RUST(?!UP_HOME$)|CI$|CI_|GITHUB_|GITLAB_|GIT_|TF_BUILD|TEAMCITY|NO_COLOR|CLICOLOR|COLUMNS|TERM$|LC_|LANG|XDG_|TMPDIR|LD_")

LIBRARY = """
pub fn work(n: u64) -> u64 {
    (0..n).fold(1_u64, |sum, i| std::hint::black_box(sum ^ i).rotate_left(3))
}
"""
BENCH = """
fn benches(suite: &mut perfcheck::Suite) {
    suite.bench("work", |b| b.iter(|| subject::work(100)));
}
perfcheck::main!(benches);
"""
CRITERION = """
use criterion::{criterion_group, criterion_main, Criterion};
fn benches(c: &mut Criterion) {
    c.bench_function("work", |b| b.iter(|| subject::work(100)));
}
criterion_group!(all, benches);
criterion_main!(all);
"""


class Unexpected(Exception):
    """A result that a situation should not have."""


class Result:
    """The exit status and the output of a process."""

    def __init__(self, done):
        self.exit, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.text = done.stdout + done.stderr

    def expect(self, status, *texts, without=()):
        """Checks the exit status, that the output matches the regular expressions `texts`, and that it does not match those in `without`."""
        wrong = [] if self.exit == status else [f"exit {self.exit}, expected {status}"]
        wrong += [f"no `{text}`" for text in texts if not re.search(text, self.text)]
        wrong += [f"`{text}`" for text in ("panicked at src", "internal error", *without) if re.search(text, self.text)]
        if wrong:
            raise Unexpected(f"{'; '.join(wrong)}\n--- stdout\n{self.stdout[-2500:]}\n--- stderr\n{self.stderr[-2500:]}")
        return self


class Subject:
    """A directory with a home, a cache, a store and a crate `subject` that has the bench target `b` with the benchmark `work`."""

    def __init__(self, place, tool):
        self.place, self.tool = place, tool
        self.home, self.root = place / "home", place / "subject"
        for gone in (self.home, self.root, *(entry for entry in place.glob("*") if entry.name not in ("cache", "home", "subject"))):
            remove(gone)
        self.home.mkdir(parents=True)
        self.env = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
        # Replace the user's own settings of git, so that they do not change the result.
        (self.home / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n")
        real = pathlib.Path.home()
        self.env |= {"HOME": str(self.home), "LC_ALL": "C.UTF-8", "PERFCHECK_STORE": str(place / "store.db"), "PERFCHECK_CACHE": str(place / "cache"),
                     "PERFCHECK_NO_SAMPLING": "1", "CARGO_HOME": os.environ.get("CARGO_HOME", str(real / ".cargo")),
                     "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(real / ".rustup")), "CARGO_NET_OFFLINE": "true",
                     # This wrapper compiles the harness once for all situations that compile it with the same flags.
                     "RUSTC_WRAPPER": str(HERE / "tests/support/harness_once.sh"), "COMPILED_HARNESSES": str(place.parent / "harnesses")}
        (place.parent / "harnesses").mkdir(exist_ok=True)

    def without_wrapper(self):
        """Removes our wrapper of the compiler, for situations that have a wrapper of their own or lack what ours needs."""
        del self.env["RUSTC_WRAPPER"]
        return self

    def write(self, path, text, mode=None):
        """Writes a file and returns its path. A relative path is relative to the root of the crate."""
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if mode:
            path.chmod(mode)
        return path

    def append(self, path, text):
        with open(self.root / path, "a") as file:
            file.write(text)

    def replace(self, path, old, new):
        text = (self.root / path).read_text()
        assert old in text, f"{old} is not in {path}"
        (self.root / path).write_text(text.replace(old, new))

    def member(self, path="", name="subject", package="", bench=BENCH, library=LIBRARY, target="b"):
        """Writes a package that has a bench target on the harness."""
        prefix = f"{path}/" if path else ""
        target_table = f'[[bench]]\nname = "{target}"\nharness = false\n' if bench else ""
        self.write(f"{prefix}Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\npublish = false\n{package}\n'
                   f'[dev-dependencies]\nperfcheck = {{ path = "{HERE}/harness" }}\n{target_table}')
        self.write(f"{prefix}src/lib.rs", library)
        if bench:
            self.write(f"{prefix}benches/{target}.rs", bench)

    def crate(self, **settings):
        """Writes the usual crate, in a repository with one commit."""
        self.member(**settings)
        self.write(".gitignore", "/target\n")
        self.append("Cargo.toml", "[workspace]\n[profile.bench]\nopt-level = 1\ndebug = false\n")
        self.commit()
        return self

    def drop_in(self):
        """Writes the usual crate with a bench for Criterion, which runs on `perfcheck-criterion`."""
        self.crate()
        self.replace("Cargo.toml", f'perfcheck = {{ path = "{HERE}/harness" }}',
                     f'criterion = {{ package = "perfcheck-criterion", path = "{HERE}/harness/criterion", default-features = false }}')
        self.write("benches/b.rs", CRITERION)
        self.commit()
        return self

    def bench(self, body, **files):
        """Replaces the body of the function that declares the benchmarks, and commits."""
        self.write("benches/b.rs", f"{files.get('before', '')}\nfn benches(suite: &mut perfcheck::Suite) {{\n{body}\n}}\nperfcheck::main!(benches);\n")
        self.commit()

    def git(self, *words, at=None, env=None):
        done = subprocess.run(["git", *words], cwd=at or self.root, env=self.env | (env or {}), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise Unexpected(f"git {' '.join(words)}: {done.stderr}")
        return done.stdout.strip()

    def commit(self, message="a commit"):
        if not (self.root / ".git").exists():
            self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)

    def slow_down(self, path="src/lib.rs"):
        """Makes the benchmark do ten times the work, without a commit."""
        self.replace(path, "0..n", "0..10 * n")

    def run(self, *words, at=None, env=None, tool=None, text=None, without=(), longest=LONGEST):
        """Runs `cargo perfcheck` with these arguments or, if `tool` is given, another command."""
        variables = {name: str(value) for name, value in (self.env | (env or {})).items() if name not in without}
        command = [str(word) for word in (tool or [self.tool, "perfcheck"])] + [str(word) for word in words]
        try:
            done = subprocess.run(command, cwd=at or self.root, env=variables, capture_output=True, text=True, errors="replace", timeout=longest,
                                  **({"input": text} if text is not None else {"stdin": subprocess.DEVNULL}))
        except subprocess.TimeoutExpired as hung:
            raise Unexpected(f"no end within {longest} s: {(hung.stderr or b'')[-1500:].decode(errors='replace')}") from None
        return Result(done)

    def measure(self, *words, **settings):
        """Measures one build alone."""
        return self.run(*QUICK, *words, **settings)

    def beside(self, *words, **settings):
        """Measures two builds side by side."""
        return self.run(*QUICK_BESIDE, *words, **settings)

    def new(self, *words, **settings):
        """Measures benchmarks for the first time, and checks that they are `new`."""
        return self.measure(*words, **settings).expect(0, r"\bnew\b")

    def slower_than(self, revision, *words, **settings):
        """Compares with a revision that does a tenth of the work, and checks the estimated change. It does not check the verdict, which would need a
        quiet machine or more time."""
        result = self.beside("--against", revision, *words, **settings)
        return result.expect(result.exit if result.exit == 1 else 0, r"\+\d{3,} %", "measured side by side")

    def slower_than_head(self, *words, **settings):
        """Slows the crate down, and checks that a comparison with HEAD finds it."""
        self.slow_down()
        return self.slower_than("HEAD", *words, **settings)


def remove(path):
    """Removes a file or a directory, even if its permissions forbid it."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        for directory, _, _ in os.walk(path):
            os.chmod(directory, 0o755)
        shutil.rmtree(path)
