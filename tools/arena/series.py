#!/usr/bin/env python3
"""Joins the samples of a series with what is known of them, for the replay under other decision rules.

    cargo run --release -p perfcheck-tools --bin paired_series -- RESULTS.db git:SCRATCH/repo/.git | python3 series.py RESULTS.jsonl > SERIES.jsonl
    cargo run --release -p perfcheck-tools --bin ablate_paired -- SERIES.jsonl us=500 exchange=20

Of the rows `identical`, `plus2`, `plus5` and `minus5`: each line of the samples gets `f`, the candidate's cost over the base's, and `cond`, the condition.
"""

import json
import sys

# What samples of rounds are meant to last.
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
            # Ablations tell kinds apart by whole per mille.
            known = {"f": round(1 + trial["truth"] / 100, 3), "cond": trial["condition"], "us": SAMPLE_US}
            print(json.dumps(known | series))


if __name__ == "__main__":
    main()
