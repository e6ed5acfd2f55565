#!/usr/bin/env python3
"""Prints the table of the arena's goals, as Markdown, from files of verdicts that arena.py or peers.py wrote.

    table.py RESULTS.jsonl... [--goals-only] [--targets main,more,code,slow_path]

Rates have exact 95 % intervals (Clopper and Pearson 1934). A change is a verdict of `regressed` or `improved`. A false alarm is a change although
the work is the same. Seconds are the time that it took to measure both sides for one verdict. There are separate tables for the hard workloads,
which compare all tools, and for commands with many benchmarks.
"""

import argparse
import collections
import json
import math
import statistics
from pathlib import Path

from arena import CODE, HARD, MAIN, MORE, SLOW_PATH

CHANGES = ("regressed", "improved")
HARD_ROWS = ("hard-same", "hard-slower")
# The table of the frontier shows which share of right verdicts was reached within each of these numbers of seconds.
FRONTIER = (1, 3, 5, 10, 20, 30)
ORDER = [*MAIN, *MORE, *CODE, *SLOW_PATH]


def binomial_tail(successes, trials, rate):
    """Returns P(X >= successes) for a binomial X. The terms are scaled by the largest one before they are added, to keep digits of small tails."""
    if successes <= 0:
        return 1.0
    if rate <= 0.0:
        return 0.0
    if rate >= 1.0:
        return 1.0
    logs = [math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
            + k * math.log(rate) + (trials - k) * math.log1p(-rate) for k in range(successes, trials + 1)]
    largest = max(logs)
    return min(1.0, math.exp(largest) * math.fsum(math.exp(log - largest) for log in logs))


def rate_where(increasing, level):
    """Returns the rate at which `increasing`, a function of the rate, reaches the level. It is found by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < level else (low, middle)
    return (low + high) / 2


def exact_interval(successes, trials, level=0.95):
    """Returns the interval of Clopper and Pearson: the rates that neither one-sided test rejects at the significance level (1 - level) / 2."""
    tail = (1 - level) / 2
    lower = 0.0 if successes == 0 else rate_where(lambda rate: binomial_tail(successes, trials, rate), tail)
    upper = 1.0 if successes == trials else rate_where(lambda rate: binomial_tail(successes + 1, trials, rate), 1 - tail)
    return lower, upper


def percent(share):
    return f"{100 * share:.1f} %"


class Goal:
    """A goal of the arena: which lines of which rows are counted as successes, and which rate of successes is demanded under each condition."""

    def __init__(self, what, rows, counts, goals, at_least=True, applies=lambda line: True):
        self.what, self.rows, self.counts, self.goals, self.at_least, self.applies = what, rows, counts, goals, at_least, applies

    def met(self, condition, successes, trials):
        goal = self.goals.get(condition)
        if goal is None:
            return "-", "-"
        rate = successes / trials
        words = f"at least {percent(goal)}" if self.at_least else "never" if goal == 0 else f"at most {percent(goal)}"
        return words, "yes" if (rate >= goal if self.at_least else rate <= goal) else "**no**"


def goals():
    both = lambda quiet, noisy: {"quiet": quiet, "noisy": noisy}
    alarm = lambda line: line["verdict"] in CHANGES
    is_verdict = lambda verdict: lambda line: line["verdict"] == verdict
    is_slower_by = lambda percent: lambda line: line["truth"] == percent
    same = {"identical": "same executable", "links": "functions in another order", "versions": "another version number", "layout": "other code around"}
    alarms = [Goal(f"false alarms, {what}", (row,), alarm, both(1 / 500, 1 / 500), at_least=False) for row, what in same.items()]
    moved = [Goal(f"+{percent} % found, code elsewhere", ("moved",), is_verdict("regressed"), both(goal, goal), applies=is_slower_by(percent))
             for percent, goal in ((2, 0.90), (5, 0.98), (10, 1.0))]
    return [
        *alarms,
        Goal("same work called `unchanged`", tuple(same), is_verdict("unchanged"), both(0.90, 0.75)),
        Goal("+2 % found", ("plus2",), is_verdict("regressed"), both(0.98, 0.90)),
        Goal("+5 % found", ("plus5",), is_verdict("regressed"), both(1.0, 0.99)),
        Goal("-5 % found", ("minus5",), is_verdict("improved"), {}),
        *moved,
        Goal("wrong direction, 5 %", ("plus5", "minus5"), lambda line: line["verdict"] in CHANGES
             and (line["verdict"] == "regressed") != (line["truth"] > 0), both(0, 0), at_least=False),
        Goal("+1 % found, threshold 0.5 %", ("plus1",), is_verdict("regressed"), {"quiet": 0.80}),
        Goal("slow path found", ("slow-path",), is_verdict("regressed"), {"quiet": 0.90}),
        Goal("slow path named", ("slow-path",), lambda line: line["verdict"] == "regressed" and names_slow_path(line), {"quiet": 0.90}),
        Goal("false alarms, no slow windows", ("slow-path-same",), alarm, both(1 / 500, 1 / 500), at_least=False),
    ]


def names_slow_path(line):
    told = json.dumps([line.get("remarks", []), line.get("notes", [])]).lower()
    return any(words in told for words in ("slow path", "slow-path", "slow_path"))


def read(paths):
    """Returns all lines with a verdict, and a line for each trial that failed and was not repeated with success."""
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    good = [line for line in lines if line["verdict"] != "error"]
    done = {line["trial"] for line in good}
    failed = {line["trial"]: line for line in lines if line["verdict"] == "error" and line["trial"] not in done}
    return good, list(failed.values())


def seconds(lines):
    taken = [line["seconds"] for line in lines]
    return f"{statistics.fmean(taken):.2f} | {statistics.median(taken):.2f}"


def by(lines, *members):
    groups = collections.defaultdict(list)
    for line in lines:
        groups[tuple(line[member] for member in members)].append(line)
    return groups


def place(workload):
    return ORDER.index(workload) if workload in ORDER else len(ORDER)


def goal_table(lines, table):
    print("| | condition | workload | count | rate | exact 95 % | seconds, mean | median | goal | met |")
    print("|---|---|---|---:|---:|---|---:|---:|---|---|")
    for goal in table:
        chosen = [line for line in lines if line["row"] in goal.rows and goal.applies(line)]
        for condition in ("quiet", "noisy"):
            here = [line for line in chosen if line["condition"] == condition]
            groups = [("all", here)] if here else []
            parts = by(here, "workload")
            if len(parts) > 1:
                groups += [(name, parts[name,]) for (name,) in sorted(parts, key=lambda key: place(key[0]))]
            for workload, group in groups:
                successes, trials = sum(map(goal.counts, group)), len(group)
                lower, upper = exact_interval(successes, trials)
                wanted, met = goal.met(condition, successes, trials) if workload == "all" else ("", "")
                print(f"| {goal.what} | {condition} | {workload} | {successes} of {trials} | {percent(successes / trials)} "
                      f"| {percent(lower)} to {percent(upper)} | {seconds(group)} | {wanted} | {met} |")


def verdict_table(lines):
    """Prints for each workload how often each verdict was given, and the estimated changes. No goals depend on this table."""
    words = sorted({line["verdict"] for line in lines})
    print("\n| row | condition | workload | truth | " + " | ".join(words) + " | change, median | from | to | rounds | wall seconds of a command |")
    print("|---|---|---|---:|" + "---:|" * len(words) + "---:|---:|---:|---:|---:|")
    groups = by(lines, "row", "condition", "workload")
    for key in sorted(groups, key=lambda key: (key[0], key[1] != "quiet", place(key[2]))):
        group = groups[key]
        counts = " | ".join(str(sum(line["verdict"] == word for line in group)) for word in words)
        changes = sorted(line["change"] for line in group if line["change"] is not None)
        rounds = [line["rounds"] for line in group if line["rounds"] is not None]
        spread = " | ".join(f"{100 * value:+.2f} %" for value in (statistics.median(changes), changes[0], changes[-1])) if changes else "- | - | -"
        truths = {line["truth"] for line in group}
        truth = "-" if len(truths) > 1 or None in truths else f"{truths.pop():+.2f} %"
        print(f"| {key[0]} | {key[1]} | {key[2]} | {truth} | {counts} | {spread} | {statistics.fmean(rounds) if rounds else 0:.1f} "
              f"| {statistics.fmean(line['wall'] for line in group):.1f} |")


def pair_table(lines):
    """Prints the false alarms in pairs of builds that do the same work but differ in their code."""
    alarmed = [line for line in lines if line["row"] in ("links", "versions", "layout") and line["verdict"] in CHANGES]
    if not alarmed:
        return
    print("\n| pair | condition | workload | verdict | change |")
    print("|---|---|---|---|---:|")
    for line in sorted(alarmed, key=lambda line: (line["tree"], line["condition"], place(line["workload"]))):
        print(f"| `{line['tree']}` | {line['condition']} | {line['workload']} | {line['verdict']} | {100 * line['change']:+.2f} % |")


def of_hard(lines):
    """Returns the lines about hard workloads, and adds the kind of the workload to each."""
    kinds = {workload: kind for kind, workloads in HARD.items() for workload in workloads}
    return [line | {"kind": kinds[line["workload"]]} for line in lines if line["row"] in HARD_ROWS]


def hard_table(lines):
    """Prints the verdicts of each tool on the hard workloads, and how long they took."""
    groups = by(lines, "kind", "condition", "label")
    print("\n## Hard workloads\n")
    print("| kind | condition | tool | same: called changed | same: called `unchanged` | slower: found | slower: called faster | seconds, mean | median |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for kind, condition, label in sorted(groups, key=lambda key: (list(HARD).index(key[0]), key[1] != "quiet", key[2])):
        group = groups[kind, condition, label]
        same, slower = ([line["verdict"] for line in group if line["row"] == row] for row in ("hard-same", "hard-slower"))
        counts = [(same, CHANGES), (same, ("unchanged",)), (slower, ("regressed",)), (slower, ("improved",))]
        cells = " | ".join(f"{sum(word in wanted for word in said)} of {len(said)}" for said, wanted in counts)
        print(f"| {kind} | {condition} | {label or 'cargo perfcheck'} | {cells} | {seconds(group)} |")


def frontier_table(lines):
    """Prints which share of verdicts was right and reached within certain numbers of seconds. Most tools take the same time for all verdicts."""
    right = {"hard-same": "unchanged", "hard-slower": "regressed"}
    print("\n## Right verdicts of the hard workloads within so many seconds\n")
    print("| kind | row | condition | tool | of | " + " | ".join(f"{limit} s" for limit in FRONTIER) + " | ever |")
    print("|---|---|---|---|---:|" + "---:|" * (len(FRONTIER) + 1))
    groups = by(lines, "kind", "row", "condition", "label")
    for key in sorted(groups, key=lambda key: (list(HARD).index(key[0]), key[1], key[2] != "quiet", key[3])):
        kind, row, condition, label = key
        taken = [line["seconds"] for line in groups[key] if line["verdict"] == right[row]]
        cells = [sum(one <= limit for one in taken) for limit in FRONTIER] + [len(taken)]
        shares = " | ".join(f"{100 * cell / len(groups[key]):.0f} %" for cell in cells)
        print(f"| {kind} | {row} | {condition} | {label or 'cargo perfcheck'} | {len(groups[key])} | {shares} |")


def many_table(lines):
    """Prints the results of commands with many benchmarks: within a time budget, and in one command compared with a command for each benchmark."""
    budgets = by([line for line in lines if line["row"].startswith("budget-")], "row", "condition", "label")
    if budgets:
        print("\n## A budget for many\n")
        print("| row | condition | tool | +10 % found | others: `unchanged` | others: called changed | wall seconds of a command, median |")
        print("|---|---|---|---:|---:|---:|---:|")
    for row, condition, label in sorted(budgets):
        group = budgets[row, condition, label]
        slow, others = ([line["verdict"] for line in group if bool(line["truth"]) == is_slow] for is_slow in (True, False))
        walls = {line["trial"]: line["wall"] for line in group}
        print(f"| {row} | {condition} | {label or 'cargo perfcheck'} | {slow.count('regressed')} of {len(slow)} | {others.count('unchanged')} of {len(others)} "
              f"| {sum(word in CHANGES for word in others)} | {statistics.median(walls.values()):.1f} |")
    together, alone = (by([line for line in lines if line["row"] == row], "condition", "label") for row in ("ten", "ten-alone"))
    for condition, label in sorted(set(together) & set(alone)):
        of_one = statistics.median({line["trial"]: line["wall"] for line in together[condition, label]}.values())
        each = by(alone[condition, label], "workload")
        of_all = sum(statistics.median(line["wall"] for line in group) for group in each.values())
        print(f"\nTen benchmarks, {condition}, {label or 'cargo perfcheck'}: {of_one:.1f} s in one command, {of_all:.1f} s in {len(each)} commands "
              f"(medians), ratio {of_one / of_all:.2f}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--goals-only", action="store_true", help="neither all verdicts nor the pairs that were called changed")
    parser.add_argument("--targets", default="main,code,slow_path", help="benches that count, e.g. main,more,code,slow_path")
    options = parser.parse_args()
    lines, failed = read(options.results)
    benches = {"main": MAIN, "more": MORE, "code": CODE, "slow_path": SLOW_PATH}
    wanted = {name for target in options.targets.split(",") for name in benches[target]}
    every_line, lines = lines, [line for line in lines if line["workload"] in wanted and line["row"] not in HARD_ROWS]
    for label in sorted({line["label"] for line in lines}):
        here = [line for line in lines if line["label"] == label]
        print(f"\n## {label or 'cargo perfcheck'}\n")
        goal_table(here, goals())
        taken = [line for line in here if line["row"] not in ("plus1", "slow-path", "slow-path-same", "same")]
        if taken:
            mean = statistics.fmean(line["seconds"] for line in taken)
            print(f"\n{mean:.2f} seconds per verdict on average (goal: at most 3), {len(taken)} verdicts of the rows without a time of their own.")
        if not options.goals_only:
            verdict_table(here)
            pair_table(here)
    hard = of_hard(every_line)
    if hard:
        hard_table(hard)
        frontier_table(hard)
    many_table(every_line)
    for line in failed:
        print(f"\nFailed: {line['trial']}, exit {line['exit_code']}: {line['stderr'].splitlines()[-1] if line['stderr'] else 'no words'}")


if __name__ == "__main__":
    main()
