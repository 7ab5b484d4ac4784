"""Data sets of noise, in the shapes of the real ones, whose sizes divide as theirs do.

They have fewer rows, and scripts count on the real number: a row behind the last is one of those
that are there, and `random_split` parts what is there in the same proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, wraps
from typing import Any

import torch
from torch.utils import data
from torch.utils.data import ConcatDataset, Dataset, Subset

from .finding import Report

# dataset → shape of an image, classes, rows to train and to test with. The numbers of rows leave
# what those of the real ones leave when they are parted into batches of 16, 32, 50, 64, or 100.
SHAPES: dict[str, tuple[tuple[int, int, int], int, int, int]] = {
    "MNIST": ((1, 28, 28), 10, 800, 400),
    "FashionMNIST": ((1, 28, 28), 10, 800, 400),
    "KMNIST": ((1, 28, 28), 10, 800, 400),
    "EMNIST": ((1, 28, 28), 47, 800, 400),
    "QMNIST": ((1, 28, 28), 10, 800, 400),
    "USPS": ((1, 16, 16), 10, 400, 200),
    "CIFAR10": ((3, 32, 32), 10, 400, 400),
    "CIFAR100": ((3, 32, 32), 100, 400, 400),
    "SVHN": ((3, 32, 32), 10, 400, 400),
    "STL10": ((3, 96, 96), 10, 200, 200),
    "CelebA": ((3, 64, 64), 40, 256, 128),
    "LSUN": ((3, 64, 64), 10, 256, 128),
    "Omniglot": ((1, 105, 105), 20, 200, 100),
    "Flowers102": ((3, 64, 64), 102, 128, 64),
    "OxfordIIITPet": ((3, 64, 64), 37, 128, 64),
    "FakeData": ((3, 224, 224), 10, 64, 64),
    "ImageFolder": ((3, 64, 64), 2, 128, 64),
    "DatasetFolder": ((3, 64, 64), 2, 128, 64),
    "ImageNet": ((3, 64, 64), 1000, 128, 64),
}
_ARRAYS = ("CIFAR10", "CIFAR100", "SVHN", "STL10")  # whose data are arrays, not tensors


class Images(Dataset[Any]):
    """Noise with labels: the same for everyone, drawn from a generator of its own."""

    kind = "CIFAR10"

    def __init__(
        self,
        root: Any = None,
        *args: Any,
        transform: Any = None,
        target_transform: Any = None,
        **kwargs: Any,
    ) -> None:
        shape, count, rows, tested = SHAPES.get(self.kind, SHAPES["Flowers102"])
        train = kwargs.get("train", args[0] if args and isinstance(args[0], bool) else True)
        split = str(kwargs.get("split", args[0] if args and isinstance(args[0], str) else "train"))
        rows = rows if train and split.startswith(("train", "balanced", "unlabel")) else tested
        generator = torch.Generator().manual_seed(0)
        self._images = torch.randint(0, 256, (rows, *shape), generator=generator, dtype=torch.uint8)
        self._labels = torch.randint(0, count, (rows,), generator=generator)
        self.root, self.train = root, train
        self.classes = [str(n) for n in range(count)]
        self.class_to_idx = {name: n for n, name in enumerate(self.classes)}
        self.transform, self.target_transform = transform, target_transform
        self.loader = lambda path: self._images[0].float() / 255
        plain = self.kind in _ARRAYS
        self.data: Any = self._images.permute(0, 2, 3, 1).numpy() if plain else self._images
        if not plain and shape[0] == 1:
            self.data = self._images[:, 0]
        self.targets: Any = self._labels.tolist() if plain else self._labels
        self.samples = [(f"{n}.png", int(label)) for n, label in enumerate(self._labels)]
        self.imgs, self.labels = self.samples, self.targets
        self.train_data = self.test_data = self.data
        self.train_labels = self.test_labels = self.targets

    def __len__(self) -> int:
        return min(len(self._images), len(self.data))

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        index = int(index) % len(self) if int(index) >= 0 else index
        image: Any = self._images[index].float() / 255
        target: Any = int(self.targets[index])
        if self.kind == "CelebA":
            target = (torch.arange(40) * (target + 1)) % 2
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


@cache
def dataset(kind: str) -> type[Images]:
    """Return the class of this name."""
    return type(kind, (Images,), {"kind": kind})


def install(report: Report) -> None:
    """Have torch part these data sets by the numbers of the real ones."""
    held: Any = data
    held.random_split = held.dataset.random_split = _in_proportion(held.random_split)


def _in_proportion(split: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(split)
    def random_split(dataset: Any, lengths: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        whole = sum(lengths)
        if whole > 1 and whole != len(dataset) and _is_synthesized(dataset):
            lengths = [max(1, len(dataset) * length // whole) for length in lengths]
            lengths[lengths.index(max(lengths))] += len(dataset) - sum(lengths)
        return split(dataset, lengths, *args, **kwargs)

    return random_split


def _is_synthesized(dataset: Any) -> bool:
    """Return True for a data set of this module, or for parts and sums of some."""
    if isinstance(dataset, Subset):
        return _is_synthesized(dataset.dataset)
    if isinstance(dataset, ConcatDataset):
        return any(map(_is_synthesized, dataset.datasets))
    return isinstance(dataset, Images)
