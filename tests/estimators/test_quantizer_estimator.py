"""VectorQuantizer and BagOfVisualWords in scikit-learn's manner, and the example that uses them."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from asterism import BagOfVisualWords, KMeans, VectorQuantizer
from asterism.errors import DataError, ParameterError


@pytest.mark.filterwarnings("ignore:.*array API.*:UserWarning")
@parametrize_with_checks([VectorQuantizer(3), VectorQuantizer(2, n_subspaces=2)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_codes_are_the_labels_of_k_means():
    X = np.random.default_rng(0).normal(size=(500, 3))
    vq, km = VectorQuantizer(7, random_state=0).fit(X), KMeans(7, random_state=0).fit(X)
    np.testing.assert_array_equal(vq.codes_, km.labels_)
    np.testing.assert_array_equal(vq.encode(X), km.predict(X))
    np.testing.assert_array_equal(vq.decode(vq.codes_), km.cluster_centers_[km.labels_])
    assert vq.distortion_ == pytest.approx(km.inertia_ / X.size, rel=1e-12)
    assert vq.score(X) == pytest.approx(-vq.distortion_, rel=1e-12)
    assert vq.codes_.dtype == np.uint8


def test_rate_counts_bits_and_entropy_is_no_more():
    X = np.random.default_rng(1).normal(size=(1000, 6))
    vq = VectorQuantizer(20, n_subspaces=3, random_state=0).fit(X)
    assert vq.rate_ == 3 * 5 / 6
    shares = [np.unique(vq.codes_[:, s], return_counts=True)[1] / 1000 for s in range(3)]
    assert vq.entropy_ == pytest.approx(-sum((p * np.log2(p)).sum() for p in shares) / 6, rel=1e-12)
    assert vq.transform(X).shape == (1000, 3)
    assert vq.inverse_transform(vq.transform(X)).shape == X.shape
    assert list(vq.get_feature_names_out()) == ["vectorquantizer0", "vectorquantizer1", "vectorquantizer2"]


def test_codes_of_many_books_need_more_bytes():
    X = np.random.default_rng(2).normal(size=(2000, 1))
    assert VectorQuantizer(300, max_iter=2, random_state=0).fit(X).codes_.dtype == np.uint16


def test_the_curve_leaves_the_estimator_as_it_was():
    X = np.random.default_rng(3).normal(size=(500, 2))
    vq = VectorQuantizer(4, random_state=0)
    points = vq.rate_distortion(X, [2, 8])
    assert [p.n_codes for p in points] == [2, 8]
    assert points[0].distortion > points[1].distortion
    assert not hasattr(vq, "n_features_in_")


def squares(n=24, seed=0):
    """Stripes down and stripes across, of any brightness."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    pictures = []
    for label in labels:
        wave = np.sin(np.arange(24) * rng.uniform(1.0, 1.5) + rng.uniform(0, 6)) * 0.2 + rng.uniform(0.3, 0.7)
        pictures.append(np.tile(wave, (24, 1)) if label else np.tile(wave[:, None], (1, 24)))
    return np.array(pictures), labels


def test_stripes_are_told_apart_by_their_words():
    pictures, labels = squares()
    bag = BagOfVisualWords(2, patch=8, features=["gradient"], random_state=0).fit(pictures)
    shares = bag.transform(pictures)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    words = shares.argmax(axis=1)
    assert len(set(zip(words, labels, strict=True))) == 2


def test_pictures_of_any_size_and_segments():
    rng = np.random.default_rng(1)
    pictures = [rng.random((h, w, 3)) for h, w in ((20, 30), (16, 16), (40, 17))]
    bag = BagOfVisualWords(4, segments=6, pyramid=(1, 2), random_state=0).fit(pictures)
    assert bag.transform(pictures).shape == (3, 4 * 5)
    assert bag.words_.shape == (4, 6 + 8)
    assert len(bag.get_feature_names_out()) == 20


def test_bytes_and_their_fractions_are_the_same_picture():
    pictures = np.random.default_rng(2).integers(0, 256, (6, 16, 16, 3)).astype(np.uint8)
    one, other = (
        BagOfVisualWords(3, random_state=0).fit_transform(x) for x in (pictures, list(pictures / 255.0))
    )
    np.testing.assert_array_equal(one, other)


def test_a_picture_of_weight_0_is_absent_and_of_weight_2_twice_there():
    pictures, _ = squares(8)
    w = np.array([0, 1, 2, 1, 0, 1, 1, 2])
    kwargs = {"patch": 8, "features": ["gradient"], "random_state": 0}
    weighted = BagOfVisualWords(3, **kwargs).fit(pictures, sample_weight=w)
    copies = BagOfVisualWords(3, **kwargs).fit(np.repeat(pictures, w, axis=0))
    np.testing.assert_allclose(weighted.words_, copies.words_, atol=1e-9)


def test_manners():
    bag = BagOfVisualWords(5, patch=4)
    assert clone(bag).get_params() == bag.get_params()
    with pytest.raises(NotFittedError):
        bag.transform([np.zeros((8, 8))])
    for bad in ({"patch": 0}, {"features": ["smell"]}, {"norm": "l3"}, {"pyramid": ()}, {"step": 1.5}):
        with pytest.raises(ParameterError):
            BagOfVisualWords(2, **bad).fit([np.zeros((8, 8))])
    for bad in ([], np.zeros((3, 4)), "picture.png", [np.zeros((8, 8)), np.zeros((8, 8, 3))], [["a"]]):
        with pytest.raises(DataError):
            BagOfVisualWords(1).fit(bad)


def test_the_example_beats_raw_pixels_with_the_same_classifier(root):
    pytest.importorskip("PIL")
    spec = importlib.util.spec_from_file_location("visual_words", root / "examples" / "visual_words.py")
    module = sys.modules["visual_words"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for raw, words in module.main().values():
        assert words > raw
