"""Names of levels that are spelled in several ways, or of which the rare ones are pooled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from asterism.data.cells import plain, spelled
from asterism.data.ladders import folded_word
from asterism.data.reading import Reading, all_texts, require

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Names(Reading):
    """Cells as names of levels: in any case, with words for "not known", and with a level for all that are rare.

    >>> city = Names(levels=("Bonn", "other"), words=("n/a",), other="other")
    >>> city.cells({"city": pa.array([" BONN", "Kiel", "N/A", None])}, "city", 0).to_pylist()
    ['Bonn', 'other', None, None]
    """

    form: ClassVar[str] = "names"
    levels: tuple[str, ...] = ()  # as they are called
    spellings: tuple[tuple[str, str], ...] = ()  # of words that are another spelling of a level
    words: tuple[str, ...] = ()  # that stand for "not known"
    other: str = ""  # the level of all other words; "": they have none

    def __post_init__(self) -> None:
        """Check what may come from a file."""
        require(all_texts(self.levels) and all_texts(self.words) and isinstance(self.other, str), "names")
        known = set(self.levels)
        for pair in self.spellings:
            require(len(pair) == 2 and all_texts(pair) and pair[1] in known, "spellings of its levels")
        require(not self.other or self.other in known, "a level for rare names")

    def cells(self, batch: Mapping[str, Any], name: str, row: int) -> Any:
        """Names of levels; a word that is none stays as it is."""
        del row
        array = batch[name]
        coded = array if pa.types.is_dictionary(array.type) else plain(array).dictionary_encode()
        level = self.table()
        names = [level(spelled(value)) for value in coded.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(*_unique(coded.indices, names)).dictionary_decode()

    def table(self) -> Callable[[str | None], str | None]:
        """The level that a word is of; None: not known."""
        known = {level: level for level in self.levels} | dict(self.spellings)
        by_folded = {folded_word(word): level for word, level in known.items()}
        missing = frozenset(map(folded_word, self.words))

        def level(word: str | None) -> str | None:
            if word is None or word in known:
                return known.get(word or "")
            folded = folded_word(word)
            return None if folded in missing else by_folded.get(folded, self.other or word)

        return level


def _unique(indices: Any, names: list[str | None]) -> tuple[Any, Any]:
    """Codes into distinct names."""
    distinct = list(dict.fromkeys(name for name in names if name is not None))
    code = {name: i for i, name in enumerate(distinct)}
    codes = np.array([-1 if name is None else code[name] for name in names] + [-1])
    places = pc.fill_null(indices.cast(pa.int64()), len(names)).to_numpy(zero_copy_only=False)
    found = codes[places]
    return pa.array(found.astype(np.int32), mask=found < 0), pa.array(distinct, pa.string())
