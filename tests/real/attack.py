"""Runs the attacks for attack.sh: attack.py BINARY DIRECTORY SECONDS SEED [KIND...]."""

import collections
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import attack_kinds
from attack_kinds import MEASURE, READERS

HERE = pathlib.Path(__file__).resolve().parents[2]
BINARY = str(pathlib.Path(sys.argv[1]).resolve())
WORK = pathlib.Path(sys.argv[2]).resolve()
SECONDS, SEED = float(sys.argv[3]), int(sys.argv[4])
ONLY = sys.argv[5:]
CHANCE = random.Random(SEED)
# The exit codes that README.md lists in the section "Exit codes".
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 130}
# Limits of the time (in seconds) and the memory (in bytes) of a command. All commands here need far less.
LONGEST = 60
MOST_MEMORY = 3 << 30
# A variable that all processes of a run inherit, so that processes that are left behind can be found by it.
MARKER = f"PERFCHECK_ATTACK_OF={os.getpid()}"
MEANINGFUL = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"-", b"e999", b"0", b"18446744073709551616", b"-1", b"1e400", b"NaN", b"\n", b"\0",
              b"\xff", b"null", b"\x1b[2J", b"::error::", b"../", "\u202e".encode(), b"9" * 400, b"[" * 3000]

counts, failures = collections.Counter(), []


def environment(store):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PERFCHECK_", "CARGO_TARGET", "CI", "GITHUB_", "TF_BUILD"))}
    name, value = MARKER.split("=")
    return kept | {name: value, "PERFCHECK_STORE": str(store), "PERFCHECK_CACHE": str(WORK / "cache"),
                   "PERFCHECK_NO_RERUN": "1", "CARGO_TARGET_DIR": str(WORK / "target"), "CARGO_TERM_COLOR": "never", "RUST_BACKTRACE": "1"}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def command(*words, crate=None):
    return [BINARY, "perfcheck", *words, "--manifest-path", str((crate or WORK / "crate") / "Cargo.toml")]


def call(store, *words):
    """Runs a command. Returns its exit status, its output and its error output. The status is None if the command hangs."""
    try:
        done = subprocess.run(command(*words), env=environment(store), stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST, preexec_fn=limited)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as hung:
        return None, hung.stdout or b"", hung.stderr or b""


def judge(kind, what, status, stderr, allowed=DOCUMENTED):
    """Counts a call, and records as a failure what the tool did wrong."""
    counts[f"{kind}: exit {status}"] += 1
    wrong = []
    if status not in allowed:
        wrong.append(f"exit status {status}")
    # Only sources of the tool have paths that begin so, because they are relative. Panics of a bench or of the compiler name other paths.
    if re.search(rb"panicked at (src|crates)/", stderr) or b"panicked at" in stderr and b"cargo-perfcheck" in stderr or b"internal error" in stderr:
        wrong.append("a panic")
    if wrong:
        panic = stderr.find(b"panicked at")
        said = stderr[-600:] if panic < 0 else stderr[panic:panic + 400]
        failures.append(f"{kind}, {what}: {', '.join(wrong)}: {said.decode(errors='replace')}")
    return not wrong


def left_behind():
    """Returns the processes that have the marker in their environment. Waits up to three seconds for them to end."""
    until = time.monotonic() + 3
    while True:
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and MARKER.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")))
            except OSError:
                pass
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def runs(store):
    """Returns the status of each stored run, or None if the runs cannot be listed."""
    status, stdout, _ = call(store, "store", "runs", "--last", "1000000", "--message-format", "json")
    if status != 0:
        return None
    found = (json.loads(line) for line in stdout.splitlines() if line.startswith(b"{"))
    return {run["run"]: run["status"] for run in found if run.get("reason") == "run"}


def keeps(kind, what, before, store):
    """Checks that no run of `before` was lost and that complete runs are still complete."""
    after = runs(store)
    lost = after is None or any(run not in after or (status == "complete" and after[run] != "complete") for run, status in before.items())
    if lost:
        failures.append(f"{kind}, {what}: runs were lost: {before} before, {after} after")
    return after or before


def mutated(data):
    """Returns the data with a few random damages at random places. The data may become shorter, but hardly longer."""
    data = bytearray(data)
    for _ in range(CHANCE.choice([1, 1, 1, 2, 4, 16])):
        if not data:
            break
        at = CHANCE.randrange(len(data))
        to = min(len(data), at + CHANCE.choice([1, 1, 2, 8, 100, 4096]))
        match CHANCE.randrange(7):
            case 0:
                data[at] ^= 1 << CHANCE.randrange(8)
            case 1:
                data[at:to] = CHANCE.choice(MEANINGFUL)
            case 2:
                data[at:at] = CHANCE.choice(MEANINGFUL)
            case 3:
                del data[at:to]
            case 4:
                del data[at:]
            case 5:
                data[at:at] = data[at:to]
            case 6:
                data[at:to] = bytes(to - at)
    return bytes(data)


def make_crate(crate=WORK / "crate", name="attacked"):
    (crate / "benches").mkdir(parents=True, exist_ok=True)
    (crate / "src").mkdir(exist_ok=True)
    (crate / "src/lib.rs").write_text("")
    (crate / "Cargo.toml").write_text(
        f'[workspace]\n\n[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n'
        f'[dev-dependencies]\nperfcheck = {{ path = {json.dumps(str(HERE / "harness"))} }}\n\n[[bench]]\nname = "attacked"\nharness = false\n')
    (crate / "benches/attacked.rs").write_text(
        "fn all(suite: &mut perfcheck::Suite) {\n    for id in [\"one\", \"two\", \"three\"] {\n"
        "        suite.bench(id, |b| b.iter(|| perfcheck::black_box(7_u64).wrapping_mul(3)));\n    }\n}\n\nperfcheck::main!(all);\n")


class Attack:
    """What all kinds of attack use to call the tool and to judge the result."""

    chance, work, crate, documented = CHANCE, WORK, WORK / "crate", DOCUMENTED
    limited = staticmethod(limited)
    judge = staticmethod(judge)

    def __init__(self, store):
        self.store, self.version, self.tools = store, 0, {}
        for name in ("git", "cargo", "rustc"):
            self.tools[name] = shutil.which(name)

    @staticmethod
    def fail(kind, text):
        failures.append(f"{kind}, {text}")

    def start(self, words, cwd=None, prefix=(), extra=None, limited=limited):
        """Starts the tool in a session of its own, so that all its processes can be killed together."""
        call = [*prefix, *command(*words, crate=cwd)]
        return subprocess.Popen(call, env=environment(self.store) | (extra or {}), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True, preexec_fn=limited)

    @staticmethod
    def finish(run, longest=LONGEST):
        """Waits for a run. Returns its exit status, its output and its error output. The status is None if the run hangs."""
        try:
            stdout, stderr = run.communicate(timeout=longest)
            return run.returncode, stdout, stderr
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            for process, _ in left_behind():
                os.kill(process, signal.SIGKILL)
            stdout, stderr = run.communicate()
            return None, stdout, stderr

    def run(self, words, **how):
        return self.finish(self.start(words, **how))

    def git(self, *words, check=True):
        """Runs git in the repository, with a made-up author, and returns its output."""
        named = ["-c", "user.name=a", "-c", "user.email=a@a", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"]
        done = subprocess.run([self.tools["git"], *named, *words], cwd=WORK / "repository", capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if check and done.returncode:
            raise RuntimeError(f"git {' '.join(words)}: {done.stderr}")
        return done.stdout

    def repository(self):
        """Returns a crate in a git repository with two commits. Creates it at the first call."""
        top = WORK / "repository"
        if not top.exists():
            top.mkdir()
            make_crate(top)
            self.git("init", "-q", "-b", "main")
            for _ in range(2):
                self.version += 1
                self.write_version(self.version)
                self.git("add", "-A")
                self.git("commit", "-q", "-m", f"version {self.version}")
        return top

    @staticmethod
    def write_version(version):
        """Renames the benchmark of the bench, so that its id says which version of the source was measured."""
        bench = WORK / "repository/benches/attacked.rs"
        bench.write_text(re.sub(r'"(one|version/-?\d+)"', f'"version/{version}"', bench.read_text(), count=1))

    def hostile_crate(self, behaviors):
        crate = WORK / "hostile"
        if not crate.exists():
            make_crate(crate, "hostile")
            (crate / "benches/attacked.rs").write_text(attack_kinds.hostile_source(behaviors))
        return crate

    def clean_runs_of_races(self):
        """Returns the number, the commit and the measured versions of each complete run of a clean commit in the repository."""
        query = ("SELECT r.id, r.git_commit, b.name FROM runs r JOIN run_benchmarks rb ON rb.run = r.id JOIN benchmarks b ON b.id = rb.benchmark "
                 "WHERE r.git_dirty = 0 AND r.status = 'complete' AND b.name LIKE 'version/%'")
        with sqlite3.connect(self.store) as database:
            found = collections.defaultdict(list)
            for run, commit, name in database.execute(query):
                found[run, commit].append(name.removeprefix("version/"))
        return [(run, commit, names) for (run, commit), names in found.items()]

    def attack(self, kind, known):
        """Attacks once. Then checks that no process was left behind and that the stored runs are unchanged."""
        before, judged = digests(self.store), sum(counts.values())
        kind(self)
        what = f"{kind.__name__} {sum(counts.values()) - judged}"
        for process, line in left_behind():
            self.fail(kind.__name__, f"left behind: {line}")
            os.kill(process, signal.SIGKILL)
        after = digests(self.store)
        altered = [run for run, digest in before.items() if after.get(run) != digest]
        if altered:
            self.fail(kind.__name__, f"complete runs were altered: {altered}")
        return keeps(kind.__name__, what, known, self.store)


def digests(store):
    """Returns a digest of what each complete run measured and concluded."""
    runs_of = "SELECT id, started, finished, exit_code, git_commit, git_dirty, seed, conclusion FROM runs WHERE status = 'complete'"
    series = "SELECT s.samples FROM run_benchmarks rb JOIN series s ON s.run_benchmark = rb.id WHERE rb.run = ? ORDER BY s.id"
    with sqlite3.connect(store) as database:
        found = {}
        for row in database.execute(runs_of).fetchall():
            digest = hashlib.sha256(repr(row).encode())
            for (samples,) in database.execute(series, (row[0],)):
                digest.update(samples)
            found[row[0]] = digest.hexdigest()
    return found


def signals(store, known):
    """Interrupts, ends or kills a run at a random moment. Checks that all earlier runs are still stored and that no process was left behind."""
    chosen = CHANCE.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
    times = CHANCE.choice([1, 1, 2])
    moment = CHANCE.random() * signals.longest
    run = subprocess.Popen(command(*MEASURE), env=environment(store), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    began = time.monotonic()
    time.sleep(moment)
    for _ in range(times):
        run.send_signal(chosen)
    try:
        _, stderr = run.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        _, stderr = run.communicate()
        failures.append(f"signals, {chosen.name} after {moment:.3f} s: it did not end")
    signals.longest = max(0.2, 0.8 * signals.longest + 0.4 * (time.monotonic() - began))
    what = f"{times} x {chosen.name} after {moment:.3f} s"
    # If the signal arrives before the tool has installed its handlers, the signal ends the tool.
    judge("signals", what, run.returncode, stderr, DOCUMENTED | {-chosen})
    for process, line in left_behind():
        failures.append(f"signals, {what}: left behind: {line}")
        os.kill(process, signal.SIGKILL)
    return keeps("signals", what, known, store)


signals.longest = 1.5


def damaged_store(good):
    store = WORK / "damaged.db"
    for name in (store, WORK / "damaged.db-wal", WORK / "damaged.db-shm"):
        name.unlink(missing_ok=True)
    store.write_bytes(mutated(good))
    words = CHANCE.choice([*READERS, MEASURE])
    status, _, stderr = call(store, *words)
    if not judge("damaged stores", " ".join(words), status, stderr):
        shutil.copy(store, WORK / f"harm-{len(failures)}.db")


def mutated_import(store, corpus, known):
    path, data = CHANCE.choice(corpus)
    target = WORK / "mutated" / path.name
    shutil.rmtree(target.parent, ignore_errors=True)
    target.parent.mkdir()
    words = ["store", "import", str(target)]
    if path.is_dir():
        shutil.copytree(path, target)
        file = CHANCE.choice(sorted(one for one in target.rglob("*") if one.is_file()))
        file.write_bytes(mutated(file.read_bytes()))
    else:
        target.write_bytes(mutated(data))
    if path.suffix == ".csv":
        words += ["--format", "csv", "--columns", "id=name,value=ns", "--unit", "ns"]
    status, _, stderr = call(store, *words)
    if not judge("mutated imports", path.name, status, stderr):
        shutil.copytree(target.parent, WORK / f"harm-{len(failures)}", dirs_exist_ok=True)
    if CHANCE.randrange(20) == 0:
        return keeps("mutated imports", path.name, known, store)
    return known


SETTINGS = b"""
[workspace.metadata.perfcheck]
id = "attacked"
rounds = 3
samples = 12
warm-up-time = "1ms"
measurement-time = "5ms"
noise-threshold = "3%"
significance-level = 0.01
resamples = 1000
fail-on = ["regressed", "suspect"]
timeout = "20s"
correction = "bh"
limit = ["median:5%", "o*=p99:2ms"]

[[workspace.metadata.perfcheck.override]]
match = "o*"
samples = 14

[package.metadata.perfcheck]
latency-digits = 3

[workspace.metadata.perfcheck.thresholds]
cv-stable = 0.05
"""


def mutated_settings(store):
    manifest = WORK / "crate" / "Cargo.toml"
    good = manifest.read_bytes()
    try:
        settings = mutated(SETTINGS)
        manifest.write_bytes(good + settings)
        status, _, stderr = call(store, "store", "runs")
        if not judge("mutated settings", "Cargo.toml", status, stderr):
            (WORK / f"harm-{len(failures)}.toml").write_bytes(settings)
    finally:
        manifest.write_bytes(good)


def main():
    until = time.monotonic() + SECONDS
    make_crate()
    store = WORK / "store.db"
    build = subprocess.run(command(*MEASURE), env=environment(store), stdin=subprocess.DEVNULL, capture_output=True)
    if build.returncode:
        sys.exit(f"the first run ended with {build.returncode}: {build.stderr.decode(errors='replace')}")
    call(store, *MEASURE)
    known = runs(store)
    assert known and len(known) == 2, known
    # Leave at least half of the time for attacks if building took long.
    until = max(until, time.monotonic() + SECONDS / 2)
    sealed = WORK / "sealed.db"
    status, exported, _ = call(store, "store", "export", "1")
    assert status == 0, "the store is exported"
    (WORK / "exported.jsonl").write_bytes(exported)
    (WORK / "table.csv").write_text("name,ns\n" + "".join(f"{name},{100 + i}.25\n" for name in "ab" for i in range(20)))
    # Copy the store so that all data are in the database file and none in its write-ahead log.
    shutil.copy(store, sealed)
    with sqlite3.connect(store) as database:
        database.backup(sqlite3.connect(sealed))
    good = sealed.read_bytes()
    samples = HERE / "tests/exchange/samples"
    paths = [path for path in sorted(samples.iterdir()) if path.name not in ("make.sh", "README.md")]
    corpus = [(path, None if path.is_dir() else path.read_bytes()) for path in [*paths, *[WORK / "exported.jsonl"] * 4, *[WORK / "table.csv"] * 2]]
    imports = WORK / "imports.db"
    shutil.copy(sealed, imports)
    of_imports = runs(imports)
    attack = Attack(store)
    kinds = {kind: share for kind, share in attack_kinds.KINDS.items() if not ONLY or kind.__name__ in ONLY}
    while time.monotonic() < until and len(failures) < 20:
        if not ONLY:
            known = signals(store, known)
            for _ in range(4):
                damaged_store(good)
            for _ in range(8):
                of_imports = mutated_import(imports, corpus, of_imports)
            for _ in range(2):
                mutated_settings(store)
        for _ in range(2):
            [kind] = CHANCE.choices(list(kinds), list(kinds.values()))
            if time.monotonic() < until:
                known = attack.attack(kind, known)
    keeps("mutated imports", "in the end", of_imports, imports)
    for kind, count in sorted(counts.items()):
        print(f"{count:6} {kind}")
    print(f"seed {SEED}: {sum(counts.values())} attacks, {len(known)} runs in the store, {len(failures)} failures")
    for text in failures:
        print(f"\n{text}")
    sys.exit(1 if failures else 0)


main()
