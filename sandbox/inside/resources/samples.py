"""Data sets that scikit-learn would download: noise in the shapes of the real ones."""

from __future__ import annotations

import importlib
from functools import wraps
from typing import Any

import numpy as np

from ..stubs.finding import when_imported
from ..stubs.synthesized import report_synthesized

ROWS = 512
# Name after `fetch_` → number of features, number of classes (0: the target is a real number).
SHAPES = {
    "california_housing": (8, 0),
    "covtype": (54, 7),
    "kddcup99": (41, 2),
    "olivetti_faces": (4096, 40),
    "lfw_people": (2914, 7),
    "openml": (784, 10),
}


def install() -> None:
    """Hook scikit-learn's data sets if it is installed."""
    when_imported("sklearn.datasets", _hook)


def _hook(datasets: Any) -> None:
    for name, (features, classes) in SHAPES.items():
        original = getattr(datasets, f"fetch_{name}", None)
        if original is not None and hasattr(datasets, "load_iris"):
            setattr(datasets, f"fetch_{name}", _fetching(original, name, features, classes))


def _fetching(original: Any, name: str, features: int, classes: int) -> Any:
    @wraps(original)
    def fetch(*args: Any, return_X_y: bool = False, **kwargs: Any) -> Any:  # noqa: N803
        try:
            return original(*args, return_X_y=return_X_y, **kwargs)
        except OSError:  # no network: URLError is one
            report_synthesized(f"fetch_{name}", "numbers in the shape of this data set")
        data, target = drawn(features, classes)
        return (data, target) if return_X_y else _bunch(data, target)

    return fetch


def drawn(features: int, classes: int) -> tuple[Any, Any]:
    """Return noise of shape (512, features), and a target of shape (512,)."""
    random = np.random.default_rng(0)
    target = random.integers(0, classes, ROWS) if classes else random.random(ROWS)
    return random.standard_normal((ROWS, features)), target


def _bunch(data: Any, target: Any) -> Any:
    utils: Any = importlib.import_module("sklearn.utils")
    names = [f"x{n}" for n in range(data.shape[1])]
    return utils.Bunch(data=data, target=target, feature_names=names, DESCR="")
