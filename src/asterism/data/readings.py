"""All readings, by the name that a model file calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asterism.data.dates import Moment
from asterism.data.decorated import Numbers
from asterism.data.names import Names
from asterism.data.reading import Reading, from_dict
from asterism.data.sphere import OnSphere
from asterism.data.vectors import Along

READINGS: dict[str, type[Reading]] = {made.form: made for made in (Numbers, Moment, Names, Along, OnSphere)}


def reading_of(spec: Mapping[str, Any]) -> Reading:
    """The reading that ``reading.to_dict`` described; a ``ValueError`` where it makes no sense.

    >>> from asterism.data.reading import to_dict
    >>> reading_of(to_dict(Numbers(decimal=","))) == Numbers(decimal=",")
    True
    """
    return from_dict(spec, READINGS)
