#!/usr/bin/env python3
"""Adds to the samples of a series what is known about them, so that other decision rules can be tried on the same samples.

    cargo run --release -p perfcheck-tools --bin paired_series -- RESULTS.db git:SCRATCH/repo/.git | python3 series.py RESULTS.jsonl > SERIES.jsonl
    cargo run --release -p perfcheck-tools --bin ablate_paired -- SERIES.jsonl us=500 exchange=20

Only samples of the rows `identical`, `plus2`, `plus5` and `minus5` are written. Each line gets `f`, which is the work of the candidate divided by
that of the base, and `cond`, which is the condition.
"""

import json
import sys

# The planned duration of a sample, in microseconds.
SAMPLE_US = 500
KNOWN = ("identical", "plus2", "plus5", "minus5")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as results:
        trials = {(line["run"], line["workload"]): line for line in map(json.loads, results)}
    for line in sys.stdin:
        series = json.loads(line)
        trial = trials.get((series["run"], series["workload"]))
        if trial and trial["row"] in KNOWN and not trial["label"]:
            # Round to whole per mille, by which ablate_paired distinguishes the kinds of series.
            known = {"f": round(1 + trial["truth"] / 100, 3), "cond": trial["condition"], "us": SAMPLE_US}
            print(json.dumps(known | series))


if __name__ == "__main__":
    main()
