"""Recognize installed files by their paths, and the libraries that these show to be in use."""

from __future__ import annotations

import re

_INSTALLED = (
    "/site-packages/",
    "/dist-packages/",
    "/lib/python",
    "/torch/",
    "<frozen ",
    "<__array_function__",
    "<string>",
)
_USED = {
    "distributed/fsdp/": "FSDP",
    "deepspeed": "DeepSpeed",
    "nn/parallel/distributed.py": "DDP",
    "utils/checkpoint.py": "gradient checkpointing",
    "torch/_dynamo/": "torch.compile",
    "torch/_inductor/": "torch.compile",
    "/peft/": "LoRA",
}  # by a part of a frame's path or code
# Files of torch in a path of which the beginning was left out: `~/.../autograd/__init__.py`.
_SHORTENED = re.compile(
    r"/(?:\.\.\.|…)/(?:\S*/)?(?:_tensor|autograd/(?:__init__|function|graph)|nn/modules/\w{1,40}"
    r"|optim/\w{1,40}|utils/checkpoint)\.py$"
)
_DRIVE = re.compile(r"[a-z]:/")
_OF_INSTALLATIONS = ("/envs/", "conda", "/python", "/programs/")


def names_installed(text: str) -> bool:
    """Return True if a text names an installed file."""
    return any(mark in text.replace("\\", "/") for mark in _INSTALLED)


def is_installed(path: str) -> bool:
    """Return True if a path leads into Python or a package.

    On Windows, Python's own files are in the folder `lib` of an installation.
    """
    if names_installed(path) or _SHORTENED.search(path):
        return True
    lowered = path[1:].lower()
    at_home = any(mark in lowered for mark in _OF_INSTALLATIONS)
    return bool(_DRIVE.match(lowered)) and "/lib/" in lowered and at_home


def libraries_used(text: str) -> list[str]:
    """Return what the frames in a text show to be in use: `FSDP`, `torch.compile`."""
    text = text.replace("\\", "/")
    return list(dict.fromkeys(name for part, name in _USED.items() if part in text))
