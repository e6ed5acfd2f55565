#!/usr/bin/env bash
# Attacks the tool for so many seconds: signals at random moments of a run, damaged stores, mutated files to import, mutated settings. Prints how many of each,
# and what came of them. Fails on a run that is lost, a process that is left behind, a panic, a hang, or an exit status that is not documented.
#
#   tests/real/attack.sh SECONDS [SEED]
#
# PERFCHECK: the executable to attack (default: built here, release). KEEP: a directory to work in and to leave behind, with what did harm.
# The same seed makes the same damages; at which moment of a run a signal arrives depends on the machine.
set -euo pipefail

seconds=${1:?how many seconds}
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
find_perfcheck
scratch_directory
PYTHONDONTWRITEBYTECODE=1 python3 "$here/tests/real/attack.py" "$PERFCHECK" "$work" "$seconds" "${2:-1}"
