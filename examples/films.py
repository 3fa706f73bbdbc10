"""Who likes which films, and what they would think of those they have not seen.

    python examples/films.py

A table of users x items has concepts: A ~ users diag(strengths) items'. Its singular values tell how strong each is.
Nobody has seen every film, and a gap is not a zero: probabilistic PCA integrates the gaps out and fills them in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from asterism import ProbabilisticPCA, TruncatedSVD

FILMS = ("Star Harbour", "Robot Dawn", "Orbit 9", "Letters in June", "The Lighthouse Waltz", "Two Tickets")
RATINGS = {  # 1 to 5; nan: not seen
    "Ada": (5, 5, 4, 1, 1, 2),
    "Ben": (4, 5, 5, 2, 1, 1),
    "Cleo": (5, 4, np.nan, 1, 2, 1),
    "Dan": (4, np.nan, 4, 1, 1, np.nan),
    "Eve": (1, 1, 2, 5, 4, 5),
    "Finn": (2, 1, 1, 4, 5, np.nan),
    "Gia": (1, np.nan, 1, 5, 5, 4),
    "Hugo": (np.nan, 2, 1, 4, 4, 5),
    "Ines": (3, 3, 3, 3, 3, 3),
    "Jon": (5, 5, 5, 5, np.nan, 5),
}


def main() -> tuple[np.ndarray, object]:
    """Fill in what nobody has rated, then look for concepts; the ratings filled in, and the view of concepts."""
    names, ratings = list(RATINGS), np.array(list(RATINGS.values()))
    filled = ProbabilisticPCA(1).fit(ratings).impute(ratings)
    print("Not seen yet, and what we expect:")
    for i, j in zip(*np.nonzero(np.isnan(ratings)), strict=True):
        print(f"  {names[i]:5} {FILMS[j]:21} {filled[i, j]:.1f}")

    # Centred by film, a concept is a taste; not centred, the first one would be "films are rated".
    centred = filled - filled.mean(axis=0)
    view = TruncatedSVD(2).fit(centred).concepts(centred)
    for c, strength in enumerate(view.strengths):
        print(f"\nConcept {c + 1}, strength {strength:.1f}")
        print("  films: ", in_order(FILMS, view.items[:, c]))
        print("  people:", in_order(names, view.users[:, c]))
    return filled, view


def in_order(names: Sequence[str], affinities: np.ndarray) -> str:
    """Names from the one most against a concept to the one most for it."""
    return ", ".join(f"{names[i]} {affinities[i]:+.2f}" for i in np.argsort(affinities))


if __name__ == "__main__":
    main()
