"""Which items of TRIPOD+AI the cards of `fit` and `validate` fill: docs/results/card_items.csv.

python benchmarks/card_items.py model.card.md validate.card.md
"""

import csv
import re
import sys
from pathlib import Path

from deepcac.table.cards.model_card import NOT_COMPUTED, checklist

YOURS = re.compile(r"^\[to be filled by you: .*\]$", re.M)


def filled(path):
    """Return the items of a card that the program has filled, as (number, topic)."""
    text = Path(path).read_text(encoding="utf-8")
    parts = re.split(r"^### ", text, flags=re.M)[1:]
    items = set()
    for part in parts:
        head, _, rest = part.partition("\n")
        own = YOURS.sub("", rest.split("\n## ")[0]).strip()
        if own and own != NOT_COMPUTED:
            items.add(tuple(head.split(". ", 1)))
    return items


def main(fit, validate):
    by_fit, by_validate = filled(fit), filled(validate)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["item", "topic", "fit", "validate", "authors_add"])
    for item in checklist():
        key = (item.number, item.topic)
        ways = ["filled" if key in items else "" for items in (by_fit, by_validate)]
        out.writerow([item.number, item.topic, *ways, "yes" if item.ask else ""])


if __name__ == "__main__":
    main(*sys.argv[1:])
