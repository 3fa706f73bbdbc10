"""BagOfVisualWords of picture files, colour histograms and keypoints."""

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from asterism import BagOfVisualWords
from asterism.errors import DataError, FileError, ParameterError


@pytest.fixture
def pictures(tmp_path):
    """Four noisy pictures and their files a.png .. d.png."""
    arrays = np.random.default_rng(0).integers(0, 256, (4, 24, 30, 3)).astype(np.uint8)
    for name, array in zip("abcd", arrays, strict=True):
        Image.fromarray(array).save(tmp_path / f"{name}.png")
    return arrays


def textures(n=8, seed=0):
    """25 spots or 25 crosses, on a grid but for a few pixels, turned and lit in any way."""
    rng = np.random.default_rng(seed)
    labels, out = np.arange(n) % 2, []
    for label in labels:
        picture = np.zeros((100, 100))
        for i, j in np.argwhere(np.ones((5, 5))) * 20 + 10 + rng.integers(-3, 4, (25, 2)):
            picture[i, j] = 1.0
            if label:
                picture[i - 5 : i + 6, j] = picture[i, j - 5 : j + 6] = 1.0
        soft = gaussian_filter(picture, 1.0 if label else 2.5)
        lit = rng.uniform(0.5, 0.8) * soft / soft.max() + rng.uniform(0, 0.2)
        out.append(np.rot90(lit, rng.integers(4)))
    return np.array(out), labels


@pytest.mark.parametrize("features", ["keypoints", "histogram", ("colour", "gradient")])
def test_the_bag_of_files_is_the_bag_of_their_arrays(tmp_path, pictures, features):
    def bag():
        return BagOfVisualWords(3, features=features, bins=2, random_state=0)

    wanted = bag().fit_transform(pictures)
    files = [tmp_path / f"{name}.png" for name in "abcd"]
    for given in (
        files,
        [str(file) for file in files],
        np.array([str(file) for file in files]),
        str(tmp_path / "*.png"),
        [tmp_path / "[a-c].png", pictures[3]],
        [pictures[0], files[1], str(tmp_path / "[cd].png")],
    ):
        np.testing.assert_array_equal(bag().fit_transform(given), wanted)


def test_the_names_of_training_files_are_kept_in_the_order_of_rows(tmp_path, pictures):
    bag = BagOfVisualWords(2, random_state=0).fit([pictures[0], str(tmp_path / "[bc].png")])
    assert bag.files_ == [None, str(tmp_path / "b.png"), str(tmp_path / "c.png")]
    np.testing.assert_array_equal(bag.transform(tmp_path / "b.png"), bag.transform(pictures[1:2]))


def test_files_that_are_no_pictures_are_named(tmp_path, pictures):
    bag = BagOfVisualWords(2, random_state=0)
    (tmp_path / "note.png").write_text("a shopping list")
    with pytest.raises(FileError, match=r"'note\.png' is not a picture.*begins like no picture"):
        bag.fit(str(tmp_path / "*.png"))
    cut = (tmp_path / "a.png").read_bytes()[:200]
    (tmp_path / "cut.png").write_bytes(cut)
    with pytest.raises(FileError, match=r"'cut\.png' is not a picture, or is damaged"):
        bag.fit([pictures[0], tmp_path / "cut.png"])
    with pytest.raises(FileError, match=r"absent\.png' is not there"):
        bag.fit([tmp_path / "absent.png"])
    with pytest.raises(FileError, match=r"No file matches .*\*\.jpg"):
        bag.fit(str(tmp_path / "*.jpg"))
    with pytest.raises(FileError, match=r"is a folder.*\*\.png"):
        bag.fit(tmp_path)
    Image.fromarray(pictures[0, :, :, 0]).save(tmp_path / "grey.png")
    with pytest.raises(DataError, match=r"grey\.png' has 1 channels, the first had 3.*colour_space"):
        bag.fit([tmp_path / "a.png", tmp_path / "grey.png"])
    Image.fromarray(pictures[0, :5, :5]).save(tmp_path / "tiny.png")
    with pytest.raises(DataError, match=r"tiny\.png'.*no patch of 8 x 8"):
        bag.fit([tmp_path / "a.png", tmp_path / "tiny.png"])


@pytest.mark.parametrize("space", ["grey", "rgb", "hsv", "lab"])
def test_a_colour_space_takes_grey_and_transparent_pictures_among_others(tmp_path, pictures, space):
    grey, opaque = pictures[0, :, :, 0], np.full((24, 30, 1), 255, np.uint8)
    Image.fromarray(grey).save(tmp_path / "grey.png")
    mixed = [tmp_path / "grey.png", np.concatenate([pictures[1], opaque], axis=2), pictures[2]]
    alike = [np.repeat(grey[:, :, None], 3, axis=2), pictures[1], pictures[2]]
    kwargs = {"features": ("colour", "histogram", "gradient"), "colour_space": space, "random_state": 0}
    one, other = (BagOfVisualWords(4, **kwargs).fit_transform(x) for x in (mixed, alike))
    np.testing.assert_array_equal(one, other)


def test_words_of_colour_histograms_are_histograms(pictures):
    bag = BagOfVisualWords(5, features="histogram", bins=2, random_state=0).fit(pictures)
    assert bag.words_.shape == (5, 8)
    np.testing.assert_allclose(bag.words_.sum(axis=1), 1.0)
    each = BagOfVisualWords(5, features=["histogram"], bins=4, joint=False, random_state=0).fit(pictures)
    assert each.words_.shape == (5, 12)
    np.testing.assert_allclose(each.words_.sum(axis=1), 3.0)
    grey = BagOfVisualWords(5, features="histogram", segments=4, colour_space="grey", random_state=0)
    assert grey.fit(pictures).words_.shape == (5, 4)


def test_keypoints_tell_two_textures_apart_however_turned_and_lit():
    pictures, labels = textures()
    bag = BagOfVisualWords(8, features="keypoints", norm="hellinger", random_state=0)
    known = bag.fit_transform(pictures)
    means = [known[labels == label].mean(axis=0) for label in (0, 1)]
    fresh, fresh_labels = textures(seed=1)
    shares = bag.transform(fresh)
    nearest = np.array([((shares - mean) ** 2).sum(axis=1) for mean in means]).argmin(axis=0)
    np.testing.assert_array_equal(nearest, fresh_labels)


def test_a_picture_without_keypoints_has_no_words():
    pictures, _ = textures(4)
    bag = BagOfVisualWords(3, features="keypoints", pyramid=(1, 2), random_state=0).fit(pictures)
    assert bag.words_.shape == (3, 128)
    even = np.full((20, 20), 0.5)
    np.testing.assert_array_equal(bag.transform([even]), np.zeros((1, 15)))
    together = bag.transform([even, pictures[0]])
    assert together[0].sum() == 0
    assert together[1].sum() == pytest.approx(2.0)  # 1 in each of two grids
    with pytest.raises(DataError, match="No picture has a keypoint"):
        BagOfVisualWords(3, features="keypoints").fit([even])


def test_settings_that_cannot_be_are_refused(pictures):
    for bad, match in (
        ({"features": ("keypoints", "colour")}, "alone"),
        ({"features": "keypoints", "segments": 4}, "two ways"),
        ({"colour_space": "cmyk"}, "grey, rgb, hsv, lab"),
        ({"bins": 0}, "bins"),
    ):
        with pytest.raises(ParameterError, match=match):
            BagOfVisualWords(2, **bad).fit(pictures)
