#!/usr/bin/env python3
"""Writes orders.json: a page of orders as a web shop's API would answer, the same on every run."""

import json
from pathlib import Path

FIRST = ["Ada", "Björn", "Chloé", "Dmitri", "Emeka", "Fatima", "Grzegorz", "Hana", "Inés", "Jun"]
LAST = ["Okafor", "Lindqvist", "Dubois", "Ivanova", "Nakamura", "García", "Nowak", "O'Neill", "Yılmaz", "Cheng"]
CITIES = ["Lagos", "Malmö", "Lyon", "Kyiv", "Osaka", "Sevilla", "Kraków", "Dublin", "İzmir", "Taipei"]
GOODS = ["desk lamp", "tea kettle", 'monitor 27"', "notebook A5", "wool socks", "bike bell", "USB-C cable", "olive oil 1 l"]
NOTES = ["", "Leave it with the neighbour.", "Ring twice,\nthen wait.", 'Mark it "fragile".', "C:\\gate\\code 4711", "Danke schön! 🎁"]
STATES = ["paid", "packed", "shipped", "delivered", "returned"]

state = 2026


def pick(limit: int) -> int:
    """A number below `limit` of a linear congruential generator (Knuth's MMIX constants)."""
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % limit


def order(number: int) -> dict:
    lines = [
        {
            "sku": f"{GOODS[good][:2].upper()}-{pick(90000) + 10000}",
            "title": GOODS[good],
            "quantity": pick(5) + 1,
            "price": (pick(9000) + 99) / 100,
            "taxable": pick(4) > 0,
        }
        for good in (pick(len(GOODS)) for _ in range(pick(4) + 1))
    ]
    return {
        "id": 7_000_000_000 + number * 37,
        "placed_at": f"2026-{pick(12) + 1:02}-{pick(28) + 1:02}T{pick(24):02}:{pick(60):02}:{pick(60):02}Z",
        "state": STATES[pick(len(STATES))],
        "customer": {
            "name": f"{FIRST[pick(10)]} {LAST[pick(10)]}",
            "city": CITIES[pick(10)],
            "location": [round(pick(180_000_000) / 1e6 - 90, 6), round(pick(360_000_000) / 1e6 - 180, 6)],
            "newsletter": [True, False, None][pick(3)],
        },
        "lines": lines,
        "total": round(sum(line["quantity"] * line["price"] for line in lines), 2),
        "note": NOTES[pick(len(NOTES))],
    }


page = {"page": 1, "next": "/orders?page=2", "orders": [order(number) for number in range(120)]}
text = json.dumps(page, indent=1, ensure_ascii=False)
(Path(__file__).parent / "orders.json").write_text(text + "\n", encoding="utf-8")
