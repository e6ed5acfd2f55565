#!/usr/bin/env bash
# Attacks the tool for SECONDS: with signals at random moments of a run and while git, rustc, cargo or an import is slow, with system calls that fail,
# damaged stores, mutated imports and settings, links in revisions, races with git, limits of processes and files, and hostile benches. Prints how
# often each kind of attack was tried, and with which results. Fails if a run is lost or altered, if a file outside is changed, if a process is left
# behind, and after a panic, a hang or an exit status that is not documented.
#
#   tests/real/attack.sh SECONDS [SEED [KIND...]]     KIND: a function in attack_kinds.KINDS; default: all, the cheaper ones more often
#
# PERFCHECK: the executable to attack (default: a release build of this repository). KEEP: a directory to work in, which is not removed and has the
# inputs that did harm. The same seed makes the same damaged inputs, but when a signal arrives during a run depends on the machine.
set -euo pipefail
# Without this, a compiler that crashes because it gets no thread would write a report into the current directory.
export RUSTC_ICE=0

seconds=${1:?how many seconds}
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
find_perfcheck
scratch_directory
PYTHONDONTWRITEBYTECODE=1 python3 "$here/tests/real/attack.py" "$PERFCHECK" "$work" "$seconds" "${2:-1}" "${@:3}"
