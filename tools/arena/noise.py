#!/usr/bin/env python3
"""Creates background load as another user of the same host would: seeded random bursts of work on every core.

    noise.py [--seed N] [--processes N]

Each process is busy for 50 ms to 1.35 s and then idle for 50 ms to 2.05 s. Both times are uniformly distributed, so that it works 40 % of the time.
Half of the bursts are integer arithmetic, the others are copies of 16 MiB. No process is pinned, so the kernel places them as any other process.
All processes end with SIGTERM, or as soon as the standard input is closed, which happens when the process that started this one ends.
"""

import argparse
import os
import random
import signal
import sys
import time

BUSY_SECONDS = (0.05, 1.35)
IDLE_SECONDS = (0.05, 2.05)
COPIED_BYTES = 16 << 20


def arithmetic():
    x = 1
    for i in range(3000):
        x = (x * 69069 + i) & 0xFFFF_FFFF
    return x


def work(seed, starter):
    """Works in bursts until the process that started this one has ended."""
    rng = random.Random(seed)
    source, target = bytearray(COPIED_BYTES), bytearray(COPIED_BYTES)
    while True:
        copies, until = rng.random() < 0.5, time.monotonic() + rng.uniform(*BUSY_SECONDS)
        while time.monotonic() < until:
            if os.getppid() != starter:
                return
            if copies:
                target[:] = source
            else:
                arithmetic()
        time.sleep(rng.uniform(*IDLE_SECONDS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    starter, workers = os.getpid(), []
    for k in range(options.processes):
        pid = os.fork()
        if pid == 0:
            os.close(0)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            work(options.seed * 1000 + k, starter)
            os._exit(0)
        workers.append(pid)

    def end(*_):
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        for pid in workers:
            os.waitpid(pid, 0)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    while sys.stdin.buffer.read(4096):
        pass
    end()


if __name__ == "__main__":
    main()
