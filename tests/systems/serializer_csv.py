#!/usr/bin/env python3
"""Tables in the form of the serializer methodology: what its harness would have logged, from a seeded generator.

    python3 tests/systems/serializer_csv.py DIRECTORY

writes v1.csv and v2.csv: 10 serializers, 6 data types, 2 modes, 100 repetitions each and a warm-up as repetition 0. In v2.csv serializer S07 takes 8 %
longer to serialise; nothing else differs but chance. Times are in ticks of 100 ns.
"""

import pathlib
import random
import sys

SERIALIZERS = [f"S{n:02}" for n in range(10)]
DATA = ["Person", "Integer", "Telemetry", "SimpleObject", "StringArray", "ObjectGraph"]
MODES = ["string", "stream"]
REPETITIONS = 100
SLOWER, FACTOR = "S07", 1.08


def rows(seed, slower):
    chance = random.Random(seed)
    for s, serializer in enumerate(SERIALIZERS):
        for d, data in enumerate(DATA):
            for mode in MODES:
                base = 2_000 * (1 + 0.35 * s) * (1 + 1.7 * d) * (1.25 if mode == "stream" else 1.0)
                for repetition in range(REPETITIONS + 1):
                    ser, deser = (base * x * chance.lognormvariate(0, 0.02) for x in (1.0, 1.6))
                    if chance.random() < 0.02:
                        ser *= chance.uniform(1.3, 3.0)
                    if repetition == 0:
                        ser, deser = ser * 40, deser * 40
                    if serializer == slower:
                        ser *= FACTOR
                    yield [mode, data, REPETITIONS, repetition, serializer, round(ser), round(deser), 100 + 37 * d]


def write(path, seed, slower=None):
    header = "StringOrStream,TestDataName,Repetitions,RepetitionIndex,SerializerName,TimeSer,TimeDeser,Size"
    lines = [header, *(",".join(map(str, row)) for row in rows(seed, slower))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    directory = pathlib.Path(sys.argv[1])
    write(directory / "v1.csv", 1)
    write(directory / "v2.csv", 2, SLOWER)
