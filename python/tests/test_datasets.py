"""Examples are those of `shuffledp train`."""

from __future__ import annotations

import gzip
import struct

import numpy
import pytest
import shuffledp
from shuffledp import datasets

DIGITS = {"kind": "digits", "train": 40, "test": 10}


def test_digits_are_pictures_of_all_classes():
    digits = datasets.load(DIGITS)
    assert digits.train_x.shape == (40, 784) and digits.test_x.shape == (10, 784) and digits.classes == 10
    assert digits.train_x.dtype == numpy.float32 and numpy.isfinite(digits.train_x).all()
    assert set(digits.train_y) <= set(range(10)) and len(set(digits.train_y)) > 5
    assert (datasets.load(DIGITS).train_x == digits.train_x).all()


def test_rows_and_labels_stay_together(tmp_path):
    """An archive that this test wrote comes back as it was."""
    rows = numpy.random.default_rng(1).normal(size=(30, 5)).astype(numpy.float32)
    labels = numpy.arange(30, dtype=numpy.uint8) % 3
    path = tmp_path / "data.npz"
    numpy.savez(path, x_train=rows[:20], y_train=labels[:20], x_test=rows[20:], y_test=labels[20:])
    found = datasets.load({"kind": "npz", "file": str(path), "classes": 3})
    assert (found.train_x == rows[:20]).all() and (found.test_x == rows[20:]).all()
    assert (found.train_y == labels[:20]).all() and (found.test_y == labels[20:]).all() and found.classes == 3


def test_bytes_of_pictures_are_scaled(tmp_path):
    def idx(name, array):
        head = struct.pack(">HBB", 0, 8, array.ndim) + b"".join(struct.pack(">I", size) for size in array.shape)
        (tmp_path / name).write_bytes(gzip.compress(head + array.tobytes()))
        return str(tmp_path / name)

    pictures = numpy.arange(24, dtype=numpy.uint8).reshape(2, 3, 4)
    files = {
        "train_images": idx("a", pictures),
        "train_labels": idx("b", numpy.array([0, 1], numpy.uint8)),
        "test_images": idx("c", pictures),
        "test_labels": idx("d", numpy.array([1, 0], numpy.uint8)),
    }
    found = datasets.load({"kind": "idx", **files, "classes": 2})
    assert found.train_x.ravel() == pytest.approx(numpy.arange(24) / 255, abs=1e-7)


def test_features_are_kept_in_the_data_directory(tmp_path):
    many = {"kind": "digits", "train": 1000, "test": 10}
    scattering = {"scattering": {"scales": 3, "angles": 1, "order": 1}}
    first = datasets.load(many, scattering, data_directory=tmp_path)
    assert any((tmp_path / "features").iterdir())
    assert (datasets.load(many, scattering, data_directory=tmp_path).train_x == first.train_x).all()


@pytest.mark.parametrize(
    ("data", "preparation", "reason"),
    [
        ({"kind": "letters"}, {}, "data: unknown variant"),
        ({"kind": "digits", "train": 10}, {}, "data: missing field `test`"),
        (DIGITS, {"scattering": {"scale": 3}}, "preparation: unknown field `scale`"),
        (DIGITS, {"pca": 0}, "pca|components"),
    ],
)
def test_what_is_wrong_is_named(data, preparation, reason):
    with pytest.raises(shuffledp.ShuffledpError, match=reason):
        datasets.load(data, preparation)


def test_data_that_is_not_there_says_how_to_get_it(tmp_path):
    with pytest.raises((shuffledp.ShuffledpError, FileNotFoundError), match="shuffledp data mnist"):
        datasets.load({"kind": "mnist"}, data_directory=tmp_path)
