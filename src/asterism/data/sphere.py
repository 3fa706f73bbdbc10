"""Places on the earth: latitude and longitude as three coordinates on a sphere, where the table spans much of it.

    x = cos(lat) cos(lon),  y = cos(lat) sin(lon),  z = sin(lat)

Distances are then right at the poles and across the meridian of 180 degrees. Where all places are within 30
degrees of each other and far from both, degrees are a plane well enough, and the two columns stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from asterism.data.cells import as_numbers
from asterism.data.profile import Profile
from asterism.data.reading import Reading, require

LATITUDE = re.compile(r"(^|[\W_])(lat|latitude|breite|breitengrad|geo_?lat)($|[\W_])", re.I)
LONGITUDE = re.compile(r"(^|[\W_])(lon|lng|long|longitude|länge|laenge|längengrad|geo_?lon)($|[\W_])", re.I)
FLAT = 30.0  # degrees: cos(15 degrees) = 0.97, so that distances in a plane are right to a few hundredths
POLAR = 75.0  # degrees of latitude from which a degree of longitude is too short for that
AXES = {"x": "towards 0 N, 0 E", "y": "towards 0 N, 90 E", "z": "north"}


def pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Columns that are latitude and longitude of one place, by their names.

    >>> pairs(["pickup_lat", "pickup_lon", "lat", "fare", "Longitude"])
    [('pickup_lat', 'pickup_lon'), ('lat', 'Longitude')]
    """
    wide = {_rest(LONGITUDE, name): name for name in names if LONGITUDE.search(name)}
    found = [(name, wide.get(_rest(LATITUDE, name), "")) for name in names if LATITUDE.search(name)]
    return [(lat, lon) for lat, lon in found if lon]


def spans_the_earth(lat: Profile, lon: Profile) -> bool:
    """Whether columns are degrees, of places too far from each other for a plane."""
    if lat.low < -90 or lat.high > 90 or lon.low < -180 or lon.high > 360 or not lat.numbers:
        return False
    far = max(lat.high - lat.low, lon.high - lon.low) > FLAT
    return far or max(-lat.low, lat.high) > POLAR


def _rest(pattern: re.Pattern[str], name: str) -> str:
    return re.sub(r"[\W_]+", " ", pattern.sub(" ", name)).strip().lower()


@dataclass(frozen=True, slots=True)
class OnSphere(Reading):
    """One coordinate of places on a sphere of radius 1.

    >>> north = OnSphere("lat", "lon", 2)
    >>> north.cells({"lat": pa.array([90.0, 0.0]), "lon": pa.array([0.0, 10.0])}, "lat, lon: z", 0).to_pylist()
    [1.0, 0.0]
    """

    form: ClassVar[str] = "sphere"
    latitude: str = ""
    longitude: str = ""
    axis: int = 0

    def __post_init__(self) -> None:
        """Check what may come from a file."""
        require(isinstance(self.latitude, str) and isinstance(self.longitude, str), "two columns")
        require(self.axis in (0, 1, 2) and type(self.axis) is int, "one of three axes")

    @property
    def sources(self) -> tuple[str, ...]:
        """Both columns of the table."""
        return (self.latitude, self.longitude)

    def cells(self, batch: Mapping[str, Any], name: str, row: int) -> Any:
        """One coordinate a row; missing where either column is."""
        del name
        lat, lon = (np.radians(as_numbers(batch[source], source, row)) for source in self.sources)
        if self.axis == 2:
            value = np.sin(lat) + 0.0 * lon
        else:
            value = np.cos(lat) * (np.cos(lon) if self.axis == 0 else np.sin(lon))
        return pa.array(np.asarray(value, np.float64), from_pandas=True)
