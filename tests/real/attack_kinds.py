"""Attacks from outside the tool: failed system calls, signals at its children, links, races with git, limits, hostile benches.

Each kind is a function. It gets an `Attack`, which has the store and calls the tool.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

READERS = [["store", "runs"], ["show", "latest"], ["show", "latest", "--stats"], ["compare", "1", "2", "--fail-on", "none"], ["explain", "one"], ["history"],
           ["history", "one"], ["report", "2", "--report", "markdown"], ["store", "export", "--output", os.devnull], ["baseline", "list"]]
WRITERS = [["accept"], ["baseline", "set", "kept", "2"], ["baseline", "remove", "kept"], ["store", "prune", "--keep-last", "1000", "--yes"]]
MEASURE = ["--rounds", "4", "--warm-up-time", "2ms", "--measurement-time", "10ms", "--resamples", "2000", "--fail-on", "none"]
AGAINST = ["--against", "HEAD~1", "--rounds", "5", "--warm-up-time", "1ms", "--measurement-time", "4ms", "--fail-on", "none", "--as-built"]

# Which system calls fail, and with which errors. The errors in TRANSIENT are returned only once, because programs repeat such a call.
CALLS = {
    "openat": ["ENOSPC", "EIO", "EMFILE", "ENFILE", "EACCES", "ENOMEM", "EINTR"],
    "read": ["EIO", "EINTR", "EAGAIN"],
    "pread64": ["EIO", "EINTR"],
    "write": ["ENOSPC", "EIO", "EINTR", "EAGAIN", "EDQUOT"],
    "pwrite64": ["ENOSPC", "EIO", "EINTR"],
    "fsync,fdatasync": ["EIO", "ENOSPC", "EINTR"],
    "rename,renameat,renameat2": ["ENOSPC", "EIO", "EXDEV", "EACCES"],
    "clone,clone3,vfork": ["EAGAIN", "ENOMEM"],
    "mmap": ["ENOMEM"],
    "execve": ["ENOMEM", "EACCES", "ETXTBSY"],
    "pipe2,socketpair": ["EMFILE", "ENFILE"],
    # ENOMEM is left out, because the standard library panics if it gets this error while it reads the output of a child.
    "poll,ppoll": ["EINTR"],
    "wait4,waitid": ["EINTR"],
    "ftruncate,fallocate": ["ENOSPC", "EIO", "EINTR"],
    "mkdir,mkdirat": ["ENOSPC", "EACCES"],
    "unlink,unlinkat": ["EACCES", "EIO"],
    "statx,newfstatat": ["EIO", "EACCES", "ENOMEM"],
    "getdents64": ["EIO", "ENOMEM"],
    "fcntl": ["ENOLCK", "EINTR", "EAGAIN"],
}
TRANSIENT = {"EINTR", "EAGAIN", "ETXTBSY"}


def failed_calls(attack):
    """Makes one kind of system call fail, once or from some call on, in the tool alone or also in all processes that it starts."""
    calls = attack.chance.choice(list(CALLS))
    error = attack.chance.choice(CALLS[calls])
    first = int(1.6 ** attack.chance.uniform(0, 16))
    # Skip the first calls, because they are made by the dynamic loader and not by the tool.
    first += 60 if calls in ("mmap", "openat", "read", "statx,newfstatat") else 1
    when = f"{first}" if error in TRANSIENT or attack.chance.randrange(2) else f"{first}+"
    measures = attack.chance.randrange(4) == 0
    words = MEASURE if measures else attack.chance.choice(READERS + WRITERS)
    follow = ["-f"] if attack.chance.randrange(2) else []
    strace = ["strace", *follow, "-qq", "-o", os.devnull, "-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={when}"]
    status, _, stderr = attack.run(words, prefix=strace)
    allowed = set(attack.documented)
    if b"error while loading shared libraries" in stderr:
        # The dynamic loader failed before the tool began.
        allowed.add(127)
    if error == "ENOMEM" and re.search(rb"memory allocation of \d+ bytes failed|cannot allocate memory", stderr):
        # A program that gets no memory may abort, because it cannot even report the error.
        allowed |= {-signal.SIGABRT, -signal.SIGSEGV}
    attack.judge("failed calls", f"{' '.join(words)} with {calls}:{error}:{when}{' in children, too' if follow else ''}", status, stderr, allowed)


def stage_signals(attack):
    """Sends a signal while git, rustc or cargo is slow, or while an import waits for a pipe. The signal goes to the tool alone or, as from a
    terminal, to all its processes."""
    stage = attack.chance.choice(["git", "git", "rustc", "cargo", "import"])
    chosen = attack.chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    extra, words, cwd = {}, MEASURE, attack.crate
    begun = attack.work / "stage-begun"
    begun.unlink(missing_ok=True)
    if stage == "import":
        pipe = attack.work / "pipe"
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        words = ["store", "import", str(pipe)]
    else:
        folder = attack.work / "slow" / stage
        slow = folder / stage
        if not slow.exists():
            folder.mkdir(parents=True)
            real = attack.tools[stage]
            slow.write_text('#!/bin/sh\ncase " $* " in *" $SLOW_AT"*) : > "$SLOW_BEGUN"; sleep 20;; esac\n' + f'exec {real} "$@"\n')
            slow.chmod(0o755)
        at = {"git": ["rev-parse", "status", "ls-files", "cat-file", "read-tree", "checkout-index", "diff", "merge-base", "log"],
              "rustc": ["-vV", "--crate-name attacked", "--crate-name"], "cargo": ["metadata", "bench", "build", "-"]}[stage]
        extra = {"SLOW_AT": attack.chance.choice(at), "SLOW_BEGUN": str(begun)}
        if stage == "git":
            extra["PATH"] = f"{folder}:{os.environ['PATH']}"
            words, cwd = attack.chance.choice([AGAINST, MEASURE, ["history"], ["compare", "latest~1", "latest"]]), attack.repository()
        else:
            extra["RUSTC" if stage == "rustc" else "CARGO"] = str(slow)
            if stage == "rustc":
                extra["CARGO_TARGET_DIR"] = str(attack.work / "target-slow")
    run = attack.start(words, cwd=cwd, extra=extra)
    keeper = os.open(attack.work / "pipe", os.O_RDWR) if stage == "import" else None
    until = time.monotonic() + (1.0 if stage == "import" else 6.0)
    while time.monotonic() < until and run.poll() is None and not begun.exists():
        time.sleep(0.02)
    time.sleep(attack.chance.random() * 0.3)
    to_all = attack.chance.randrange(2)
    was_stopped = run.poll() is None
    if was_stopped:
        if to_all:
            os.killpg(run.pid, chosen)
        else:
            run.send_signal(chosen)
    # The slow stand-in for git, rustc or cargo sleeps longer than this. So the tool ends in time only if it reacts to the signal.
    status, _, stderr = attack.finish(run, 12)
    if keeper is not None:
        os.close(keeper)
    what = f"{' '.join(words)}: {chosen.name} to {'all' if to_all else 'it alone'} at {stage} {extra.get('SLOW_AT', '')}"
    stopped = {130, -chosen} if was_stopped and begun.exists() or stage == "import" else attack.documented | {-chosen}
    attack.judge("signals at stages", what, status, stderr, stopped)


def links(attack):
    """Puts links in place of folders and files in revisions and work trees. Checks that nothing outside of the copy changes."""
    top = attack.repository()
    outside = attack.work / "outside"
    shutil.rmtree(outside, ignore_errors=True)
    (outside / "deep").mkdir(parents=True)
    for name in ("data.bin", "deep/data.bin", "Cargo.toml", "lib.rs"):
        (outside / name).write_text(f"outside {name}\n")
    chance = attack.chance
    git = attack.git
    git("checkout", "-q", "-f", "main")
    git("clean", "-qfdx")
    git("branch", "-q", "-f", "linked", "main")
    git("checkout", "-q", "linked")
    places = ["assets", "a/b/assets", "src/assets", "benches/data", "link"]
    chosen = chance.sample(places, chance.choice([1, 2, 3]))

    def make(place, kind):
        path = top / place
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        targets = {"absolute": str(outside), "deeper": str(outside / "deep"), "relative": os.path.relpath(outside, path.parent), "self": path.name,
                   "up": "..", "dangling": str(outside / "nothing"), "file": str(outside / "data.bin")}
        if kind == "folder":
            (path / "deep").mkdir(parents=True)
            (path / "data.bin").write_text("inside\n")
            (path / "deep/data.bin").write_text("inside\n")
            (path / "lib.rs").write_text("")
        elif kind == "plain":
            path.write_text("inside\n")
        elif kind != "nothing":
            path.symlink_to(targets[kind])

    kinds = ["absolute", "deeper", "relative", "self", "up", "dangling", "file", "folder", "plain", "nothing"]
    for step in range(2):
        for place in chosen:
            make(place, chance.choice(kinds))
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", f"links {step}")
    if chance.randrange(2):
        # Add ignored files below a folder that is a link in the other revision.
        (top / ".git/info/exclude").write_text("*.bin\nignored/\n")
        for place in chosen:
            make(place, chance.choice(kinds))
    before = snapshot(outside)
    tree = snapshot(top, without=".git")
    words = [*AGAINST, *chance.choice([[], ["--benches-from", "worktree"]])]
    status, _, stderr = attack.run(words, cwd=top)
    what = f"{' '.join(words)} with links at {chosen}"
    attack.judge("links", what, status, stderr)
    for name, then, now in (("outside", before, snapshot(outside)), ("the work tree", tree, snapshot(top, without=".git"))):
        # Cargo itself may write a lock file beside the manifest.
        changed = {path for path in then.keys() | now.keys() if then.get(path) != now.get(path)} - {"Cargo.lock"}
        if changed:
            attack.fail("links", f"{what}: changed {name}: {sorted(changed)[:5]}")
    (top / ".git/info/exclude").write_text("")
    git("checkout", "-q", "-f", "main")
    git("clean", "-qfdx")


def snapshot(top, without=None):
    """Returns all files and links below a folder, with their content. Links are not followed."""
    found = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != without]
        for name in [*folders, *files]:
            path = pathlib.Path(folder) / name
            key = str(path.relative_to(top))
            if path.is_symlink():
                found[key] = ("link", os.readlink(path))
            elif path.is_file():
                found[key] = ("file", path.read_bytes())
            else:
                found[key] = ("folder",)
    return found


def races(attack):
    """Commits, checks out, edits files and deletes branches during a run. Checks that a run that names a clean commit measured the code of it."""
    top, git, chance = attack.repository(), attack.git, attack.chance
    git("checkout", "-q", "-f", "main")
    git("clean", "-qfdx")
    stop = threading.Event()

    def disturb():
        turn = 0
        while not stop.wait(chance.random() * 0.7):
            turn += 1
            try:
                match chance.randrange(6):
                    case 0:
                        attack.write_version(turn + 1000 * attack.version)
                        git("commit", "-qam", f"race {turn}", check=False)
                    case 1:
                        git("checkout", "-q", "-f", chance.choice(["main", "main~1", "other"]), check=False)
                    case 2:
                        attack.write_version(-turn)
                    case 3:
                        git("branch", "-q", "-f", "other", "HEAD~1", check=False)
                    case 4:
                        git("branch", "-q", "-D", "other", check=False)
                    case 5:
                        git("gc", "-q", "--prune=now", check=False)
            except OSError:
                pass

    attack.version += 1
    disturber = threading.Thread(target=disturb)
    disturber.start()
    words = chance.choice([AGAINST, MEASURE])
    try:
        status, stdout, stderr = attack.run(words, cwd=top)
    finally:
        stop.set()
        disturber.join()
    attack.judge("races with git", " ".join(words), status, stderr)
    for run, commit, identifiers in attack.clean_runs_of_races():
        source = git("show", f"{commit}:benches/attacked.rs", check=False)
        versions = re.findall(r'"version/(-?\d+)"', source)
        if versions and any(identifier not in versions for identifier in identifiers):
            attack.fail("races with git", f"{' '.join(words)}: run {run} names commit {commit[:8]} with version {versions}, and measured {identifiers}")
    git("checkout", "-q", "-f", "main", check=False)
    git("clean", "-qfdx")


def limits(attack):
    """Limits the number of processes and open files or the size of files, and asks for senseless numbers of threads."""
    chance = attack.chance
    extra = {"RAYON_NUM_THREADS": chance.choice(["1", "2", "3", "64", "5000", "0", "-1", "many"])}
    chosen = chance.choice(["processes", "processes", "files", "size", "none"])
    prefix, limited = [], None
    count = 0
    if chosen == "processes" and os.geteuid() == 0:
        # Run as a user without an account, because the limit does not hold for root. The user may still read the files of root.
        count = int(1.5 ** chance.uniform(0, 13))
        prefix = ["setpriv", "--reuid=65534", "--inh-caps=+dac_override", "--ambient-caps=+dac_override", "prlimit", f"--nproc={count}", "--"]
    elif chosen == "files":
        count = chance.randrange(4, 80)
        limited = resource.RLIMIT_NOFILE
    elif chosen == "size":
        count = 1 << chance.randrange(9, 22)
        limited = resource.RLIMIT_FSIZE
    words = MEASURE if chance.randrange(4) == 0 else chance.choice(READERS)

    def limit():
        attack.limited()
        if limited is not None:
            resource.setrlimit(limited, (count, count))

    status, _, stderr = attack.run(words, prefix=prefix, extra=extra, limited=limit)
    what = f"{' '.join(words)} with {count or 'any number of'} {chosen}, {extra['RAYON_NUM_THREADS']} threads"
    allowed = set(attack.documented)
    if status in (126, 127) and (b"prlimit:" in stderr or b"setpriv:" in stderr or b"error while loading shared libraries" in stderr):
        allowed.add(status)
    if chosen == "size":
        # A file that grows beyond the limit causes a signal that ends any program, so it may end the tool, too.
        allowed.add(-signal.SIGXFSZ)
    attack.judge("limits", what, status, stderr, allowed)


HOSTILE = {
    "closes-stdout": "unsafe { close(1); close(2); } std::thread::sleep(std::time::Duration::from_millis(1500));",
    "closes-all": "unsafe { for fd in 0..64 { close(fd); } }",
    "leaves-a-daemon": "unsafe { if fork() == 0 { setsid(); if fork() == 0 { std::thread::sleep(std::time::Duration::from_secs(90)); } _exit(0); } }",
    "stops-itself": "unsafe { kill(getpid(), 19); }",
    "ends-quietly": "unsafe { _exit(0); }",
    "aborts": "std::process::abort();",
    "floods": "for _ in 0..20_000 { eprintln!(\"{}\", \"flood \".repeat(40)); println!(\"{{\\\"measured\\\": 1}}\"); }",
    "interrupts-its-group": "unsafe { kill(0, 2); }",
    "ignores-signals": "unsafe { signal(15, 1); signal(2, 1); signal(1, 1); } std::thread::sleep(std::time::Duration::from_millis(900));",
    "another-session": "unsafe { setsid(); }",
    "panics": "panic!(\"a bench panics\");",
    "many-threads": "for _ in 0..300 { std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_secs(60))); }",
    "many-files": "std::mem::forget((0..4000).map_while(|_| std::fs::File::open(\"/dev/null\").ok()).collect::<Vec<_>>());",
    "writes-to-all": "unsafe { for fd in 3..40 { write(fd, b\"garbage\\n\".as_ptr(), 8); } }",
    "reads-from-all": "unsafe { let mut one = [0u8; 1]; for fd in 3..40 { let flags = fcntl(fd, 3); fcntl(fd, 4, flags | 2048); read(fd, one.as_mut_ptr(), 1); } }",
}


def hostile_children(attack):
    """Runs benches that misbehave in some of their processes: they close or flood their output, stop, fork, die, or write where they must not."""
    crate = attack.hostile_crate(HOSTILE)
    behavior = attack.chance.choice(list(HOSTILE))
    extra = {"HOSTILE": behavior, "HOSTILE_ONE_OF": str(attack.chance.choice([1, 2, 4]))}
    words = [*MEASURE, "--timeout", "3s"]
    status, _, stderr = attack.run(words, cwd=crate, extra=extra)
    attack.judge("hostile children", f"{behavior}, one process of {extra['HOSTILE_ONE_OF']}", status, stderr)


def hostile_source(behaviors):
    """Returns the source of a bench that shows one of these behaviors in one of several processes. Environment variables choose both."""
    arms = "".join(f'        Ok("{name}") => {{ {code} }}\n' for name, code in behaviors.items())
    return f"""#![allow(unused_unsafe, unused_must_use, unreachable_code)]
unsafe extern "C" {{
    fn close(fd: i32) -> i32; fn fork() -> i32; fn setsid() -> i32; fn _exit(status: i32) -> !; fn kill(pid: i32, signal: i32) -> i32; fn getpid() -> i32;
    fn signal(signal: i32, handler: usize) -> usize; fn write(fd: i32, bytes: *const u8, count: usize) -> isize;
    fn read(fd: i32, bytes: *mut u8, count: usize) -> isize; fn fcntl(fd: i32, command: i32, ...) -> i32;
}}

fn misbehave() {{
    let one_of = std::env::var("HOSTILE_ONE_OF").ok().and_then(|text| text.parse::<u32>().ok()).unwrap_or(1);
    if std::process::id() % one_of != 0 {{ return; }}
    match std::env::var("HOSTILE").as_deref() {{
{arms}        _ => {{}}
    }}
}}

fn all(suite: &mut perfcheck::Suite) {{
    suite.bench("calm", |b| b.iter(|| perfcheck::black_box(7_u64).wrapping_mul(3)));
    suite.bench("hostile", |b| {{ misbehave(); b.iter(|| perfcheck::black_box(7_u64).wrapping_mul(5)) }});
}}

perfcheck::main!(all);
"""


# How often each kind is chosen, relative to the others. Kinds that build revisions are rarer, because a build takes seconds.
KINDS = {failed_calls: 8, stage_signals: 4, limits: 5, hostile_children: 4, links: 2, races: 2}
