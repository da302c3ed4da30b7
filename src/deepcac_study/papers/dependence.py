"""Which printed cells are no evidence of their own, and which stand beside a cell as rivals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from deepcac_study.papers.printed import PrintedCell

SUMMARY = "follows from other cells"

Place = tuple[str, ...]


def place(cell: PrintedCell) -> Place:
    """Return what the cells of several methods share: table, data set (or row) and metric."""
    row = cell.note.partition(";")[0] if cell.item == "loss_delta" else ""
    return cell.source, cell.dataset, row, cell.item


def cells_by_place(cells: Sequence[PrintedCell]) -> Mapping[Place, list[PrintedCell]]:
    """Return the printed numbers of methods by their place; an unknown place has none."""
    found: dict[Place, list[PrintedCell]] = defaultdict(list)
    for cell in cells:
        if cell.method and cell.value is not None:
            found[place(cell)].append(cell)
    return found


def origins(cells: Sequence[PrintedCell]) -> list[str]:
    """Return why each cell is derived; empty for the cells that count.

    A derived cell follows from others of its paper, as averages do, or repeats an earlier one: the
    same run decides both, and the same value is printed.
    """
    first: dict[tuple[object, ...], PrintedCell] = {}
    found = []
    for cell in cells:
        key: tuple[object, ...] = (cell.dataset_id, cell.item, cell.text)
        if cell.kind != "data":
            key = (*key, cell.method_id, cell.n_clusters, cell.protocol)
        counts = cell.dataset_id and cell.text and cell.kind in ("score", "alpha", "data")
        earlier = first.setdefault(key, cell) if counts else cell
        repeated = "" if earlier.source == cell.source else _repeats(earlier)
        found.append(SUMMARY if cell.derived else repeated)
    return found


def _repeats(earlier: PrintedCell) -> str:
    return f"repeats {earlier.paper} Table {earlier.table}"
