"""Mixtures of a path as arrays and back, so that a search that was stopped need not fit them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.families.base import Family
from asterism.methods.cells import Cell, Cells
from asterism.methods.posterior import Mixture

Arrays = dict[str, NDArray[Any]]


def packed_cells(cells: Cells) -> tuple[Arrays, list[dict[str, Any]]]:
    """Arrays, and numbers that JSON holds to the bit."""
    arrays: Arrays = {}
    states = []
    for i, cell in enumerate(cells.values()):
        mixture = cell.mixture
        arrays |= {f"{i}.weights": mixture.weights, f"{i}.mass": cell.mass}
        arrays |= {f"{i}.params.{name}": a for name, a in mixture.family.pack(mixture.params).items()}
        states.append(
            {
                "structure": cell.structure,
                "k": cell.k,
                "log_likelihood": cell.log_likelihood,
                "surprise": cell.surprise,
                "total": cell.total,
                "sound": cell.sound,
            }
        )
    return arrays, states


def unpacked_cells(arrays: Arrays, states: list[dict[str, Any]], families: Mapping[str, Family]) -> Cells:
    """The cells again; ``families`` are those of the path, prepared from the same rows."""
    cells: Cells = {}
    for i, state in enumerate(states):
        prefix = f"{i}.params."
        family = families[state["structure"]]
        params = family.unpack(
            {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        )
        mixture = Mixture(family, np.asarray(arrays[f"{i}.weights"]), params)
        cells[state["structure"], state["k"]] = Cell(mixture=mixture, mass=arrays[f"{i}.mass"], **state)
    return cells
