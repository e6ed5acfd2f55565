#!/usr/bin/env bash
# Attacks the tool for so many seconds: signals at random moments of a run and while git, rustc, cargo or an import is slow, system calls that fail, damaged
# stores, mutated files to import, mutated settings, links in revisions, races with git, limits of processes and files, hostile benches. Prints how many of
# each, and what came of them. Fails on a run that is lost or altered, a file outside that is changed, a process that is left behind, a panic, a hang, or an
# exit status that is not documented.
#
#   tests/real/attack.sh SECONDS [SEED [KIND...]]     KIND: a function of attack_kinds.KINDS; without it all, in shares of their cost
#
# PERFCHECK: the executable to attack (default: built here, release). KEEP: a directory to work in and to leave behind, with what did harm.
# The same seed makes the same damages; at which moment of a run a signal arrives depends on the machine.
set -euo pipefail
# A compiler that gets no thread must not leave a report of its crash in the current directory.
export RUSTC_ICE=0

seconds=${1:?how many seconds}
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
find_perfcheck
scratch_directory
PYTHONDONTWRITEBYTECODE=1 python3 "$here/tests/real/attack.py" "$PERFCHECK" "$work" "$seconds" "${2:-1}" "${@:3}"
