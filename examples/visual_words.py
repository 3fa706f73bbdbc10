"""Visual words beside raw pixels: the same classifier on digits, and on tiles of two photographs.

Run it from anywhere: ``python examples/visual_words.py``. Pictures are scikit-learn's own; its photographs need
Pillow. Words are found in the training pictures alone.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits, load_sample_images
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from asterism import BagOfVisualWords

TILE = 32  # pixels


def digits() -> tuple[np.ndarray, np.ndarray]:
    """(1797, 8, 8) handwritten digits, and which they are."""
    found = load_digits()
    return found.images / 16.0, found.target


def tiles() -> tuple[np.ndarray, np.ndarray]:
    """(520, 32, 32, 3) tiles of a temple and of a flower, and of which picture they are."""
    pictures, labels = [], []
    for label, picture in enumerate(load_sample_images().images):
        height, width, channels = picture.shape
        down, across = height // TILE, width // TILE
        cut = picture[: down * TILE, : across * TILE].reshape(down, TILE, across, TILE, channels)
        pictures.append(cut.swapaxes(1, 2).reshape(-1, TILE, TILE, channels))
        labels.append(np.full(down * across, label))
    return np.concatenate(pictures), np.concatenate(labels)


def classifier() -> object:
    """The one classifier that both get."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, tol=1e-2, max_iter=500))


def compare(pictures: np.ndarray, labels: np.ndarray, bag: BagOfVisualWords) -> tuple[float, float]:
    """Shares of held-out pictures told right: from raw pixels, and from visual words."""
    train, test, train_labels, test_labels = train_test_split(
        pictures, labels, test_size=0.5, random_state=0, stratify=labels
    )
    raw = classifier().fit(train.reshape(len(train), -1), train_labels)
    words = classifier().fit(bag.fit_transform(train), train_labels)
    return (
        float(raw.score(test.reshape(len(test), -1), test_labels)),
        float(words.score(bag.transform(test), test_labels)),
    )


def main() -> dict[str, tuple[float, float]]:
    """Both sets of pictures, printed."""
    strokes = BagOfVisualWords(
        64, patch=4, step=1, features=["gradient", "pixels"], pyramid=(2,), norm="hellinger", random_state=0
    )
    surfaces = BagOfVisualWords(32, patch=8, norm="hellinger", random_state=0)
    found = {"digits": compare(*digits(), strokes), "photographs": compare(*tiles(), surfaces)}
    for name, (raw, words) in found.items():
        print(f"{name:12} raw pixels {raw:.1%} right, visual words {words:.1%} right")
    return found


if __name__ == "__main__":
    main()
