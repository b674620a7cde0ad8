"""Types of the arrays that many modules compute with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
