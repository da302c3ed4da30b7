"""The case of Figure 4 of Vilalta, Achari & Eick (2003), with every row placed by hand.

Class 0 has two small clusters above class 1 and one below it.
"""

import numpy as np


def block(x, y, half_width, half_height, columns, rows):
    at = np.meshgrid(
        np.linspace(x - half_width, x + half_width, columns),
        np.linspace(y - half_height, y + half_height, rows),
    )
    return np.column_stack([axis.ravel() for axis in at])


def figure4():
    """Return rows (n, 2), classes and clusters within them."""
    parts = [
        block(-2, 1.8, 0.4, 0.1, 5, 2),
        block(2, 1.8, 0.4, 0.1, 5, 2),
        block(0, -1.8, 3, 0.2, 12, 3),
        block(0, 0, 3, 1, 12, 6),
    ]
    sizes = [len(part) for part in parts]
    return np.vstack(parts), np.repeat([0, 0, 0, 1], sizes), np.repeat([0, 1, 2, 0], sizes)
