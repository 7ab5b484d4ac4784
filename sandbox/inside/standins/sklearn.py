"""scikit-learn: splits, scalers, small tables of the right sizes, and metrics as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from .nothing import Nothing, NothingModule

PROVIDES = ("sklearn",)
SAYS = "not installed here: tables are noise of the right sizes, metrics are rough"
# loader → rows, columns, classes (0: a number is to be predicted)
_TABLES = {
    "iris": (150, 4, 3),
    "digits": (1797, 64, 10),
    "wine": (178, 13, 3),
    "breast_cancer": (569, 30, 2),
    "diabetes": (442, 10, 0),
    "boston": (506, 13, 0),
    "california_housing": (640, 8, 0),
    "olivetti_faces": (400, 4096, 40),
    "openml": (400, 784, 10),
    "covtype": (400, 54, 7),
}


class Bunch(dict[str, Any]):
    """A dictionary whose keys are attributes."""

    __getattr__ = dict.__getitem__


def _noise(rows: int, columns: int, classes: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    data = random.standard_normal((rows, columns))
    if classes:
        return data, np.arange(rows) % classes
    return data, data @ random.standard_normal(columns)


def _loader(name: str) -> Any:
    def load(*args: Any, return_X_y: bool = False, **kwargs: Any) -> Any:  # noqa: N803
        data, target = _noise(*_TABLES[name])
        if return_X_y:
            return data, target
        features = [f"x{n}" for n in range(data.shape[1])]
        names = [str(n) for n in range(_TABLES[name][2])]
        return Bunch(data=data, target=target, feature_names=features, target_names=names)

    return load


def made(n_samples: Any = 100, n_features: int = 2, **kwargs: Any) -> tuple[Any, Any]:
    """`make_classification`, `make_moons`, `make_blobs`: noise in classes."""
    classes = kwargs.get("n_classes") or kwargs.get("centers") or 2
    rows = n_samples if isinstance(n_samples, int) else sum(n_samples)
    return _noise(rows, n_features, classes if isinstance(classes, int) else len(classes))


def made_classification(n_samples: int = 100, n_features: int = 20, **kwargs: Any) -> Any:
    return made(n_samples, n_features, **kwargs)


def made_regression(n_samples: int = 100, n_features: int = 100, **kwargs: Any) -> Any:
    """A linear function of noise."""
    return _noise(n_samples, n_features, 0)


def taken(values: Any, index: Any) -> Any:
    """Those rows of an array, a tensor, a table or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[index]
    if hasattr(values, "shape"):
        return values[index]
    return [values[n] for n in index]


def train_test_split(*arrays: Any, test_size: Any = None, **options: Any) -> list[Any]:
    """Each array in two parts; a quarter of the rows is for the test."""
    rows = len(arrays[0])
    train = options.get("train_size")
    if test_size is None:
        test_size = 0.25 if train is None else rows - train if train > 1 else 1 - train
    count = int(test_size) if test_size >= 1 else max(int(rows * test_size), 1)
    order = np.arange(rows)
    if options.get("shuffle", True):
        np.random.default_rng(options.get("random_state")).shuffle(order)
    return [taken(a, part) for a in arrays for part in (order[count:], order[:count])]


class Folds:
    """`KFold` and its kin: every n-th row is for the test."""

    def __init__(self, n_splits: int = 5, *args: Any, **kwargs: Any) -> None:
        self.n_splits = n_splits

    def split(self, rows: Any, *args: Any) -> Iterator[tuple[Any, Any]]:
        order = np.arange(len(rows))
        for fold in range(self.n_splits):
            yield order[order % self.n_splits != fold], order[order % self.n_splits == fold]

    def get_n_splits(self, *args: Any) -> int:
        return self.n_splits


class Scaler:
    """Subtracts a centre and divides by a scale, by column."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def fit(self, values: Any, *args: Any) -> Any:
        values = np.asarray(values, float)
        self.mean_, self.scale_ = self._of(values)
        self.scale_ = np.where(self.scale_ == 0, 1, self.scale_)
        return self

    def _of(self, values: Any) -> tuple[Any, Any]:
        return values.mean(0), values.std(0)

    def transform(self, values: Any) -> Any:
        return (np.asarray(values, float) - self.mean_) / self.scale_

    def fit_transform(self, values: Any, *args: Any) -> Any:
        return self.fit(values).transform(values)

    def inverse_transform(self, values: Any) -> Any:
        return np.asarray(values, float) * self.scale_ + self.mean_


class MinMaxScaler(Scaler):
    """From the least to the greatest value of a column."""

    def _of(self, values: Any) -> tuple[Any, Any]:
        return values.min(0), values.max(0) - values.min(0)


class LabelEncoder:
    """Numbers for labels, in order."""

    def fit(self, labels: Any) -> Any:
        self.classes_ = np.unique(np.asarray(labels))
        return self

    def transform(self, labels: Any) -> Any:
        return np.searchsorted(self.classes_, np.asarray(labels))

    def fit_transform(self, labels: Any) -> Any:
        return self.fit(labels).transform(labels)

    def inverse_transform(self, numbers: Any) -> Any:
        return self.classes_[np.asarray(numbers)]


class OneHotEncoder:
    """A column for every value of the first column."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def fit_transform(self, values: Any, *args: Any) -> Any:
        self.fit(values)
        return self.transform(values)

    def fit(self, values: Any, *args: Any) -> Any:
        self.categories_ = [np.unique(np.asarray(values).reshape(len(values), -1)[:, 0])]
        return self

    def transform(self, values: Any) -> Any:
        first = np.asarray(values).reshape(len(values), -1)[:, 0]
        return (first[:, None] == self.categories_[0]).astype(float)


class Reduction(Nothing):
    """`PCA`, `TSNE`, …: as many columns as asked for."""

    def __init__(self, n_components: Any = 2, *args: Any, **kwargs: Any) -> None:
        self.n_components = n_components if isinstance(n_components, int) else 2

    def fit_transform(self, values: Any, *args: Any) -> Any:
        return np.random.default_rng(0).standard_normal((len(values), self.n_components))

    transform = fit_transform


def accuracy(truth: Any, guess: Any, *args: Any, **kwargs: Any) -> float:
    """The share of equal labels."""
    return float((np.asarray(truth) == np.asarray(guess)).mean())


def squared_error(truth: Any, guess: Any, *args: Any, **kwargs: Any) -> float:
    """The mean of squared differences."""
    return float(((np.asarray(truth, float) - np.asarray(guess, float)) ** 2).mean())


def confusion(truth: Any, guess: Any, *args: Any, **kwargs: Any) -> Any:
    """How often each label was taken for each."""
    labels = np.unique(np.concatenate([np.ravel(truth), np.ravel(guess)]))
    return (
        np.equal.outer(labels, np.ravel(truth))[:, None]
        * np.equal.outer(labels, np.ravel(guess))[None]
    ).sum(-1)


class Metrics(NothingModule):
    """`sklearn.metrics`: a number for every score."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return squared_error if "error" in name else accuracy


def module(name: str) -> ModuleType:
    """`sklearn`, or a part of it."""
    part = name.partition(".")[2].partition(".")[0]
    if part == "metrics":
        return Metrics(name, confusion_matrix=confusion, classification_report=lambda *a, **k: "")
    named: dict[str, Any] = {
        "train_test_split": train_test_split,
        "make_classification": made_classification,
        "make_regression": made_regression,
        **dict.fromkeys(("make_moons", "make_blobs", "make_circles", "make_swiss_roll"), made),
        **dict.fromkeys(("KFold", "StratifiedKFold", "GroupKFold", "ShuffleSplit"), Folds),
        **dict.fromkeys(("StandardScaler", "RobustScaler", "Normalizer"), Scaler),
        **dict.fromkeys(("MinMaxScaler", "MaxAbsScaler"), MinMaxScaler),
        **dict.fromkeys(("PCA", "TSNE", "TruncatedSVD", "FastICA"), Reduction),
        "LabelEncoder": LabelEncoder,
        "OneHotEncoder": OneHotEncoder,
    }
    for table in _TABLES:
        named[f"load_{table}"] = named[f"fetch_{table}"] = _loader(table)
    return NothingModule(name, **named)
