#!/bin/sh
# Kills cargo-perfcheck (kill -9) N times at different moments of a run, and checks that no process is left and that the store is intact.
# Usage: tests/real/kill_parent.sh [N]        (200 kills take a few minutes)
set -eu
cd "$(dirname "$0")/../.."
TEST_KILLS="${1:-200}" exec cargo test --test cli -- --exact \
    testbench::sudden_death::kill_minus_nine_at_any_moment_leaves_no_process_and_a_whole_store
