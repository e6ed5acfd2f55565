#!/usr/bin/env python3
"""Runs the Windows tool under Wine: commands on stored runs, measurements, interruptions, and benches that misbehave.

  windows.py TOOL [TEST...]     TOOL is cargo-perfcheck.exe; the tests are methods of the classes below, all by default

The environment is that of `set_up.sh`. The benches are compiled by the cargo of this machine. Under Wine, a program that prints this cargo's recorded
answers stands in for cargo and rustc, because a Linux program that is started from Wine hangs.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TESTBENCH = HERE.parents[1] / "testbench"
TARGET = "x86_64-pc-windows-gnu"
WINE = os.environ["CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER"]
CARGO = [os.environ["CARGO"]]
BUILD_STD = os.environ["BUILD_STD"].split()
HOME = pathlib.Path(tempfile.mkdtemp(prefix="windows-"))
# Limit of the time of a command, in seconds.
LONGEST = 300
# Short processes, and times from a script.
QUICK = ["--rounds", "3", "--warm-up-time", "1ms", "--measurement-time", "5ms", "--resamples", "1000"]
NO_RERUN = {"PERFCHECK_NO_RERUN": "1"}
TOOL = None


def windows_path(path):
    return "Z:" + str(path).replace("/", "\\")


def as_on_windows(value):
    """Replaces the paths in an answer of cargo with those of the same files in Wine."""
    if isinstance(value, dict):
        return {name: as_on_windows(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_on_windows(item) for item in value]
    if isinstance(value, str) and value.startswith("/"):
        return windows_path(value)
    return value.replace("path+file:///", "path+file:///Z:/") if isinstance(value, str) else value


def write_lines(path, values):
    path.write_text("".join(json.dumps(as_on_windows(value)) + "\n" for value in values))


class Answers:
    """A directory with the answers of cargo and rustc about one workspace."""

    def __init__(self, name, manifest, flags):
        self.directory = HOME / "answers" / name
        self.directory.mkdir(parents=True)
        metadata = self.cargo("metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest)
        write_lines(self.directory / "metadata", metadata)
        graph = self.cargo("bench", "--no-run", "--unit-graph", "-Zunstable-options", "--manifest-path", manifest, *flags)
        write_lines(self.directory / "unit-graph", graph)
        messages = self.cargo("bench", "--no-run", "--profile", "dev", *BUILD_STD, "--target", TARGET, "--message-format", "json",
                              "--manifest-path", manifest, *flags)
        # Scripts and the standard library do not matter.
        self.messages = [message for message in messages if message.get("executable") or message["reason"] == "build-finished"]
        version = subprocess.run([os.environ["RUSTC"], "-vV"], check=True, capture_output=True, text=True).stdout
        (self.directory / "version").write_text(re.sub("host: .*", f"host: {TARGET}", version))
        (self.directory / "target-libdir").write_text(windows_path(HOME / "toolchain/lib/rustlib" / TARGET / "lib") + "\n")
        self.set_build()

    @staticmethod
    def cargo(*words):
        done = subprocess.run([*CARGO, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"cargo {words[0]} has failed")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def set_build(self, executables=None):
        """Makes the messages the answer to a build that puts executables into its target directory. `executables` replaces them, by target name."""
        lines, messages = [], []
        for message in self.messages:
            built = message.get("executable")
            if built:
                name = pathlib.Path(built).name
                lines.append(f"{windows_path((executables or {}).get(message['target']['name'], built))}\tdebug\\deps\\{name}\n")
                message = message | {"executable": f"@TARGET@\\debug\\deps\\{name}", "filenames": [f"@TARGET@\\debug\\deps\\{name}"]}
            messages.append(message)
        (self.directory / "executables").write_text("".join(lines))
        write_lines(self.directory / "build", messages)

    def executable(self, target):
        return next(message["executable"] for message in self.messages if message.get("executable") and message["target"]["name"] == target)

    def calls(self):
        noted = self.directory / "calls"
        return noted.read_text().splitlines() if noted.exists() else []


def kill_tool():
    """Kills all processes of the tool."""
    for process, name in processes():
        if name == TOOL.name:
            os.kill(process, signal.SIGKILL)


def processes():
    """Lists the programs under our Wine: their process ids and the names of the executables. The services of Wine do not count."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and f"WINEPREFIX={HOME / 'wine'}\0".encode() in (process / "environ").read_bytes():
                words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                name = next((word for word in words if word.endswith(".exe")), "").replace("\\", "/").rpartition("/")[2]
                if name and name not in ("services.exe", "winedevice.exe", "plugplay.exe", "svchost.exe", "explorer.exe", "rpcss.exe", "conhost.exe",
                                         "start.exe", "wineboot.exe"):
                    found.append((int(process.name), name))
        except (OSError, UnicodeDecodeError):
            pass
    return found


class Finished:
    def __init__(self, code, stdout, stderr):
        self.code, self.stdout, self.stderr = code, stdout, stderr

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.stdout[-4000:]}\n--- stderr\n{self.stderr[-4000:]}"

    def messages(self, reason):
        lines = [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("reason") == reason]


class Running:
    """A started program, whose output goes to files, because the services of Wine keep pipes open."""

    def __init__(self, words, variables, directory, terminal=None):
        self.files = [directory / "stdout", directory / "stderr"]
        with self.files[0].open("wb") as stdout, self.files[1].open("wb") as stderr:
            streams = {"stdin": terminal or subprocess.DEVNULL, "stdout": stdout, "stderr": stderr}
            # A terminal becomes the console of the program, if it is the one that controls the session.
            control = (lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if terminal else None
            self.process = subprocess.Popen([WINE, *map(str, words)], env=environment() | variables, cwd=directory, start_new_session=True,
                                            preexec_fn=control, **streams)

    def wait_for_stderr(self, text):
        deadline = time.monotonic() + LONGEST
        while text not in self.files[1].read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"stderr has no {text!r}:\n{self.finish()}")
            time.sleep(0.05)

    def finish(self, longest=LONGEST):
        try:
            code = self.process.wait(longest)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = None
        return Finished(code, *(path.read_text(errors="replace").replace("\r\n", "\n") for path in self.files))


def environment():
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PERFCHECK_", "CARGO", "RUST", "CI", "GITHUB_", "TF_BUILD", "LD_LIBRARY")) and name != "DISPLAY"}
    return kept | {"WINEPREFIX": str(HOME / "wine"), "WINEDEBUG": "-all", "WINEPATH": windows_path(HOME / "programs"),
                   "CARGO": windows_path(HOME / "programs/cargo.exe"), "LC_ALL": "C.UTF-8"}


def set_up():
    """Makes a copy of the Wine of `set_up.sh` with an empty user profile, the stand-in for cargo, and the recorded answers."""
    # The files of Windows are shared with the original, because nothing changes them.
    original = pathlib.Path(os.environ["WINEPREFIX"])
    shutil.copytree(original / "drive_c/windows", HOME / "wine/drive_c/windows", copy_function=os.link, symlinks=True)
    for path in original.iterdir():
        if path.is_file():
            shutil.copy2(path, HOME / "wine")
    shutil.copytree(original / "dosdevices", HOME / "wine/dosdevices", symlinks=True)
    programs = HOME / "programs"
    programs.mkdir()
    compiler = os.environ["CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER"]
    subprocess.run([compiler, "-Wall", "-Werror", "-O1", "-s", "-municode", "-o", programs / "cargo.exe", HERE / "stand_in.c"], check=True)
    for name in ("rustc", "sleep"):
        shutil.copy(programs / "cargo.exe", programs / f"{name}.exe")
    # A folder with a space and a letter beyond ASCII.
    for name in ("before", "after"):
        write_costs(name, "0.1.0" if name == "before" else "0.2.0", 1000 if name == "before" else 2000)


def write_costs(name, version, steps):
    """Writes a package whose benchmark `changed` takes the given number of steps. Its version gives each executable a name of its own."""
    directory = HOME / "ein ärger" / name
    (directory / "benches").mkdir(parents=True)
    # The manifest has the line ends of Windows.
    (directory / "Cargo.toml").write_bytes(f"""[package]
name = "costs"
version = "{version}"
edition = "2024"
[dev-dependencies]
perfcheck = {{ path = "{HERE.parents[1] / 'harness'}" }}
[[bench]]
name = "costs"
harness = false
[profile.dev]
debug = false
[workspace]
""".replace("\n", "\r\n").encode())
    shutil.copy(TESTBENCH / "Cargo.lock", directory)
    (directory / "benches/costs.rs").write_text(f"""use perfcheck::{{Suite, black_box}};
fn costs(suite: &mut Suite) {{
    suite.bench("changed", |b| b.iter(|| (0..black_box({steps}_u64)).fold(7, |sum, n| black_box(sum ^ n))));
    suite.bench("constant", |b| b.iter(|| (0..black_box(1000_u64)).fold(7, |sum, n| black_box(sum ^ n))));
}}
perfcheck::main!(costs);
""")


RECORDED = {}


def answers(name, manifest, *flags):
    if name not in RECORDED:
        RECORDED[name] = Answers(name, manifest, flags)
    return RECORDED[name]


def of_crate(crate, target=None):
    flags = ["-p", crate, *(["--bench", target] if target else [])]
    return answers(f"{crate} {target or ''}".strip(), TESTBENCH / "Cargo.toml", *flags)


def of_costs(version):
    return answers(version, HOME / "ein ärger" / version / "Cargo.toml")


class Case(unittest.TestCase):
    """A test with a store and a cache of its own."""

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="maß ", dir=HOME))
        self.variables = {"PERFCHECK_STORE": windows_path(self.home / "perfcheck.db"), "PERFCHECK_CACHE": windows_path(self.home / "cache")}

    def tearDown(self):
        self.assertEqual(self.left_behind(), [])
        running = self.home / "cache/running"
        self.assertEqual([path.name for path in running.iterdir()] if running.exists() else [], [])

    def left_behind(self):
        deadline = time.monotonic() + 10
        while processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        left = processes()
        for process, _ in left:
            os.kill(process, signal.SIGKILL)
        return [name for _, name in left]

    def start(self, recorded, *words, variables=None, terminal=None):
        manifest = json.loads((recorded.directory / "metadata").read_text())["workspace_root"] + "\\Cargo.toml"
        answering = {"PERFCHECK_TEST_ANSWERS": recorded.directory, "PERFCHECK_TEST_TARGET": self.home / "target"}
        variables = self.variables | {name: windows_path(path) for name, path in answering.items()} | (variables or {})
        place = [] if words[0] == "doctor" and "--self-test" not in words else ["--manifest-path", manifest]
        return Running([TOOL, "perfcheck", *words, *place], variables, self.home, terminal)

    def run_tool(self, recorded, *words, code=0, variables=None):
        finished = self.start(recorded, *words, variables=variables).finish()
        self.assertEqual(finished.code, code, f"{words}\n{finished}")
        return finished

    def assert_stderr(self, finished, *texts):
        for text in texts:
            self.assertIn(text, finished.stderr, str(finished))

    def verdicts(self, finished):
        return {message["benchmark"]["id"]: message["verdict"] for message in finished.messages("benchmark-compared")}


class Stored(Case):
    """Commands that read and write the store, and measure nothing."""

    def import_runs(self):
        for name, factor in [("one", 100), ("two", 150)]:
            rows = "".join(f"a;{factor * (1 + 0.01 * (i * 7 % 5)):.3f}\r\nb;{50 + i % 3},5\r\n".replace(".", ",") for i in range(40))
            # An editor of Windows writes a byte order mark and its own line ends.
            (self.home / f"{name}.csv").write_bytes(("\ufeffname;ns\r\n" + rows).encode())
            self.run_tool(of_crate("steady"), "store", "import", f"{name}.csv", "--columns", "id=name,value=ns", "--separator", ";",
                          "--decimal-comma", "--unit", "ns", "--save-baseline", name)

    def test_help(self):
        finished = Running([TOOL, "perfcheck", "--help"], self.variables, self.home).finish()
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("Usage: cargo perfcheck", finished.stdout)
        finished = Running([TOOL, "--version"], self.variables, self.home).finish()
        self.assertRegex(finished.stdout, r"^cargo-perfcheck \d+\.\d+\.\d+\n$")

    def test_empty_profile(self):
        """Without settings, the store is in the user's profile."""
        self.variables = {}
        self.run_tool(of_crate("steady"), "store", "runs")
        self.import_runs()
        found = list((HOME / "wine/drive_c/users").glob("*/AppData/Roaming/cargo-perfcheck/perfcheck.db"))
        self.assertEqual(len(found), 1)
        shown = self.run_tool(of_crate("steady"), "store", "runs", "--message-format", "json")
        self.assertEqual(len(shown.messages("run")), 2)

    def test_stored_runs(self):
        recorded = of_crate("steady")
        self.import_runs()
        compared = self.run_tool(recorded, "compare", "one", "two", code=1)
        self.assertIn("regressed", compared.stdout)
        self.assertNotIn("\\\\?\\", compared.stdout + compared.stderr)
        self.run_tool(recorded, "show", "1", "--stats")
        self.run_tool(recorded, "history")
        self.run_tool(recorded, "baseline", "list")
        exported = self.run_tool(recorded, "store", "export", "1", "2")
        (self.home / "exported.jsonl").write_text(exported.stdout)
        self.variables["PERFCHECK_STORE"] = windows_path(self.home / "other.db")
        self.run_tool(recorded, "store", "import", "exported.jsonl")
        again = self.run_tool(recorded, "store", "export", "1", "2")
        self.assertEqual(len(again.stdout.splitlines()), len(exported.stdout.splitlines()))

    def test_reports(self):
        recorded = of_crate("steady")
        self.import_runs()
        self.run_tool(recorded, "compare", "one", "two", "--report", "html=ä page.html", "--report", "markdown=c.md", "--report", "junit=j.xml",
                      code=1)
        page = (self.home / "ä page.html").read_text()
        self.assertTrue(page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>"), page[:100])
        for name in ("c.md", "j.xml"):
            self.assertIn("a", (self.home / name).read_text())
        self.run_tool(recorded, "report", "--report", "html=page 2.html")

    def test_doctor(self):
        finished = self.run_tool(of_crate("steady"), "doctor", "--quick")
        self.assertIn("not supported on Windows: a common function order", " ".join(finished.stdout.split()))
        # Valgrind does not exist for Windows.
        self.assertNotIn("valgrind", finished.stdout)


class Measured(Case):
    """Measurements of bench executables."""

    def test_alone(self):
        recorded = of_crate("steady")

        def measure(text, *flags, code):
            script = f"arithmetic=100/101/100;memory=100/101/100;text={text}/{text * 1.01}/{text}"
            variables = NO_RERUN | {"PERFCHECK_SCRIPTED_CLOCK": script}
            return self.run_tool(recorded, "-p", "steady", *QUICK, "--message-format", "json", *flags, code=code, variables=variables)

        first = measure(100, code=0)
        self.assertEqual(set(self.verdicts(first).values()), {"new"})
        same = measure(100, "--noise-threshold", "40%", code=0)
        self.assertEqual(set(self.verdicts(same).values()), {"unchanged"}, str(same))
        slower = measure(200, code=1)
        self.assertEqual(self.verdicts(slower)["text"], "regressed", str(slower))
        self.run_tool(recorded, "explain", "text")

    def run_with_links(self, recorded, top, *words, code=0):
        """Runs a command that needs a link to the work tree at `top`. Wine 8 cannot make one, but takes a link of Linux for the directory."""
        for _ in range(3):
            finished = self.start(recorded, *words).finish()
            wanted = re.search(r"cannot make `Z:(.*)`: unsupported", finished.stderr)
            if not wanted:
                break
            pathlib.Path(wanted[1].replace("\\", "/")).symlink_to(top)
        self.assertEqual(finished.code, code, f"{words}\n{finished}")
        return finished

    def test_against_executable(self):
        before, after = of_costs("before"), of_costs("after")
        executable = windows_path(before.executable("costs"))
        flags = ["--against-executable", executable, "--rounds", "20", "--message-format", "json"]
        run = self.run_tool(after, *flags, code=1)
        self.assertEqual(self.verdicts(run)["changed"], "regressed", str(run))
        self.assertNotEqual(self.verdicts(run)["constant"], "regressed", str(run))
        same = self.run_tool(before, *flags, "--measure-identical")
        self.assertTrue(set(self.verdicts(same).values()) <= {"unchanged", "inconclusive"}, str(same))

    def test_machine_code(self):
        """The function that changed is named, and a benchmark that does not run it is not measured."""
        before, after = of_costs("before"), of_costs("after")
        flags = ["--against-executable", windows_path(before.executable("costs")), "--rounds", "5", "--message-format", "json"]
        run = self.start(after, *flags).finish()
        compared = {message["benchmark"]["id"]: message for message in run.messages("benchmark-compared")}
        same = {name: message["same"] for name, message in compared.items()}
        self.assertEqual(same, {"changed": None, "constant": "run"}, str(run))
        self.assertEqual(compared["constant"]["verdict"], "unchanged", str(run))
        self.assertEqual({message["benchmark"]["id"] for message in run.messages("benchmark-measured")}, {"changed"}, str(run))
        functions = [function["name"] for code in run.messages("run-finished")[0]["code"] for function in code["functions"]]
        self.assertTrue(functions and all("costs::costs::{closure" in name for name in functions), f"{functions}\n{run}")
        # In its first round, `changed` shows that it needs one processor, and then it is bound to one.
        usages = [json.loads(conduct) for conduct, in self.query("SELECT conduct FROM processes WHERE conduct IS NOT NULL")]
        self.assertGreater(sum(usage["cpu"] for usage in usages), 0, usages)
        self.assertEqual({usage["threads"] for usage in usages}, {1}, usages)
        self.assertTrue(any(usage["processor"] is not None for usage in usages), usages)

    def query(self, words):
        store = sqlite3.connect(self.home / "perfcheck.db")
        try:
            return store.execute(words).fetchall()
        finally:
            store.close()

    def test_kept_build(self):
        """The build of the first run is kept, and the second run measures it again beside the new build."""
        before, after = of_costs("before"), of_costs("after")
        top = HOME / "ein ärger/before"
        first = self.run_with_links(before, top, *QUICK)
        same = self.run_with_links(before, top, "--message-format", "json")
        self.assertEqual(set(self.verdicts(same).values()), {"unchanged"}, f"{first}\n{same}")
        source = top / "benches/costs.rs"
        unchanged = source.read_text()
        source.write_text((HOME / "ein ärger/after/benches/costs.rs").read_text())
        before.set_build({"costs": after.executable("costs")})
        try:
            second = self.run_with_links(before, top, "--rounds", "20", "--message-format", "json", code=1)
        finally:
            source.write_text(unchanged)
            before.set_build()
        self.assertEqual(self.verdicts(second)["changed"], "regressed", f"{first}\n{second}")
        decided = {message["decided_by"] for message in second.messages("benchmark-compared")}
        self.assertIn("paired", decided, str(second))

    def test_self_test(self):
        self.run_with_links(of_costs("before"), HOME / "ein ärger/before", "doctor", "--self-test", "--trials", "1", "--rounds", "10")


class Misbehaving(Case):
    """Benches that hang, print, die or leave processes behind."""

    def run_crate(self, crate, *words, code, target=None):
        return self.run_tool(of_crate(crate, target), "-p", crate, *QUICK, *words, code=code, variables=NO_RERUN)

    def test_hangs(self):
        run = self.run_crate("hangs", "--timeout", "1s", code=4)
        self.assert_stderr(run, *(f"hangs/hangs: {name} failed in process 1: no answer" for name in ("in_body", "in_set_up", "busy")))

    def test_prints(self):
        run = self.run_crate("prints_to_stdout", code=0)
        self.assert_stderr(run, "printed by the function", "printed in the body", "line 49999 of the flood")
        self.assertNotIn("printed in", run.stdout)

    def test_dies(self):
        run = self.run_crate("aborts", code=4)
        self.assertIn("exception 0xc0000409", run.stdout + run.stderr, str(run))
        run = self.run_crate("exits_early", "--bench", "exits_early", code=4, target="exits_early")
        run = self.run_crate("panics", "--bench", "panics", code=4, target="panics")
        self.assertIn("panic in set-up of 42", run.stdout + run.stderr, str(run))

    def test_leaves_a_process_behind(self):
        self.run_crate("forks", "--bench", "forks", "child", code=0, target="forks")


class Ended(Case):
    """The tool is killed or interrupted."""

    def start_long(self, **options):
        run = self.start(of_crate("forks", "forks"), "-p", "forks", "--bench", "forks", "child", "--rounds", "100", "--warm-up-time", "5ms",
                         "--measurement-time", "20ms", variables=NO_RERUN, **options)
        run.wait_for_stderr("Process 3 ")
        return run

    def check_incomplete(self):
        runs = self.run_tool(of_crate("forks", "forks"), "store", "runs", "--message-format", "json").messages("run")
        self.assertEqual([run["status"] for run in runs], ["incomplete"])

    def test_killed(self):
        run = self.start_long()
        kill_tool()
        run.finish(10)
        self.assertEqual(self.left_behind(), [])
        self.check_incomplete()

    def press_ctrl_c(self, start):
        """Calls `start` with a terminal, and types Ctrl-C there. Wine takes a terminal of Linux for a console, whose Ctrl-C it turns into an event."""
        ours, terminal = pty.openpty()
        try:
            run = start(terminal=terminal)
            os.write(ours, b"\x03")
            finished = run.finish(60)
        finally:
            os.close(ours)
            os.close(terminal)
        self.assertEqual(finished.code, 130, str(finished))
        return finished

    def test_ctrl_c(self):
        finished = self.press_ctrl_c(self.start_long)
        self.assert_stderr(finished, "error: interrupted; run 1 is stored as incomplete, with its complete processes")
        self.check_incomplete()

    def start_build(self, **options):
        run = self.start(of_crate("steady"), "-p", "steady", *QUICK, variables=NO_RERUN | {"PERFCHECK_TEST_HANGS": "1"}, **options)
        deadline = time.monotonic() + 60
        while "--message-format" not in "".join(of_crate("steady").calls()[-1:]) and time.monotonic() < deadline:
            time.sleep(0.1)
        return run

    def test_killed_in_a_build(self):
        run = self.start_build()
        kill_tool()
        self.assertIsNotNone(run.finish(10).code)

    def test_ctrl_c_in_a_build(self):
        self.press_ctrl_c(self.start_build)

    def test_ended_by_the_task_manager(self):
        run = self.start_long()
        Running(["taskkill", "/F", "/IM", TOOL.name], {}, pathlib.Path(tempfile.mkdtemp(dir=HOME))).finish()
        self.assertIsNotNone(run.finish(10).code)
        self.assertEqual(self.left_behind(), [])
        self.check_incomplete()


def main():
    global TOOL
    TOOL = pathlib.Path(sys.argv[1]).resolve()
    server = pathlib.Path(WINE).with_name("wineserver")
    try:
        set_up()
        # Without this, Wine would end and start again between two commands.
        subprocess.run([server, "-p"], env=environment(), check=True)
        tests = unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]], exit=False)
    finally:
        for flag in ("-k", "-w"):
            subprocess.run([server, flag], env=environment(), timeout=60)
        shutil.rmtree(HOME, ignore_errors=True)
    sys.exit(not tests.result.wasSuccessful())


if __name__ == "__main__":
    main()
