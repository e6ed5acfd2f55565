"""A small crate on the harness of this repository, and `cargo perfcheck` run on it."""

import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parents[3]
LONGEST = 300
# Quick rather than exact: no situation is about the times themselves, and those of one process say little on a busy machine.
QUICK = ["--rounds", "1", "--samples", "4", "--measurement-time", "4ms", "--warm-up-time", "1ms", "--fail-on", "none"]
# Two builds have at least five rounds; one benchmark whose work is ten times as much is decided by them.
QUICK_BESIDE = ["--rounds", "5", "--instructions", "never"]
# What the shell or the CI system around this script says to cargo, git and the tool.
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
    """What a situation led to and should not have."""


class Result:
    """What a process said."""

    def __init__(self, done):
        self.exit, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.text = done.stdout + done.stderr

    def expect(self, status, *texts, without=()):
        """The exit status, regular expressions that its output has, and such that it has not."""
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
        # A user's own settings of git are none of a situation.
        (self.home / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n")
        real = pathlib.Path.home()
        self.env |= {"HOME": str(self.home), "LC_ALL": "C.UTF-8", "PERFCHECK_STORE": str(place / "store.db"), "PERFCHECK_CACHE": str(place / "cache"),
                     "PERFCHECK_NO_SAMPLING": "1", "CARGO_HOME": os.environ.get("CARGO_HOME", str(real / ".cargo")),
                     "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(real / ".rustup")), "CARGO_NET_OFFLINE": "true",
                     # The harness is compiled once for all situations that compile it alike.
                     "RUSTC_WRAPPER": str(HERE / "tests/support/harness_once.sh"), "COMPILED_HARNESSES": str(place.parent / "harnesses")}
        (place.parent / "harnesses").mkdir(exist_ok=True)

    def without_wrapper(self):
        """For situations with a wrapper of the compiler, or without what ours needs."""
        del self.env["RUSTC_WRAPPER"]
        return self

    def write(self, path, text, mode=None):
        """A file below the crate's root; an absolute path stays."""
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
        """A package with a bench target on the harness."""
        prefix = f"{path}/" if path else ""
        target_table = f'[[bench]]\nname = "{target}"\nharness = false\n' if bench else ""
        self.write(f"{prefix}Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\npublish = false\n{package}\n'
                   f'[dev-dependencies]\nperfcheck = {{ path = "{HERE}/harness" }}\n{target_table}')
        self.write(f"{prefix}src/lib.rs", library)
        if bench:
            self.write(f"{prefix}benches/{target}.rs", bench)

    def crate(self, **settings):
        """The usual crate, in a repository with one commit."""
        self.member(**settings)
        self.write(".gitignore", "/target\n")
        self.append("Cargo.toml", "[workspace]\n[profile.bench]\nopt-level = 1\ndebug = false\n")
        self.commit()
        return self

    def drop_in(self):
        """The usual crate with its bench written for Criterion, on `perfcheck-criterion`."""
        self.crate()
        self.replace("Cargo.toml", f'perfcheck = {{ path = "{HERE}/harness" }}',
                     f'criterion = {{ package = "perfcheck-criterion", path = "{HERE}/harness/criterion", default-features = false }}')
        self.write("benches/b.rs", CRITERION)
        self.commit()
        return self

    def bench(self, body, **files):
        """The body of the function that declares benchmarks."""
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
        """Ten times the work, not committed."""
        self.replace(path, "0..n", "0..10 * n")

    def run(self, *words, at=None, env=None, tool=None, text=None, without=(), longest=LONGEST):
        """Any command: the words after `cargo perfcheck`, or another program with its words."""
        variables = {name: str(value) for name, value in (self.env | (env or {})).items() if name not in without}
        command = [str(word) for word in (tool or [self.tool, "perfcheck"])] + [str(word) for word in words]
        try:
            done = subprocess.run(command, cwd=at or self.root, env=variables, capture_output=True, text=True, errors="replace", timeout=longest,
                                  **({"input": text} if text is not None else {"stdin": subprocess.DEVNULL}))
        except subprocess.TimeoutExpired as hung:
            raise Unexpected(f"no end within {longest} s: {(hung.stderr or b'')[-1500:].decode(errors='replace')}") from None
        return Result(done)

    def measure(self, *words, **settings):
        """A run of one build alone."""
        return self.run(*QUICK, *words, **settings)

    def beside(self, *words, **settings):
        """A run of two builds side by side."""
        return self.run(*QUICK_BESIDE, *words, **settings)

    def new(self, *words, **settings):
        """Measures what nothing was measured of before."""
        return self.measure(*words, **settings).expect(0, r"\bnew\b")

    def slower_than(self, revision, *words, **settings):
        """Compares with a revision whose work is a tenth: the estimate says so. A verdict needs a quiet machine, or time."""
        result = self.beside("--against", revision, *words, **settings)
        return result.expect(result.exit if result.exit == 1 else 0, r"\+\d{3,} %", "measured side by side")

    def slower_than_head(self, *words, **settings):
        """Slows the crate down and finds that out."""
        self.slow_down()
        return self.slower_than("HEAD", *words, **settings)


def remove(path):
    """A file or a directory, whatever its rights are."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        for directory, _, _ in os.walk(path):
            os.chmod(directory, 0o755)
        shutil.rmtree(path)
