"""Array types, as signatures name them."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# The same by what they hold: values of rows, and numbers of classes, clusters or rows.
Array = Floats
Ids = Ints
