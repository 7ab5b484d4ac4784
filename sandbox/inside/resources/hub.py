"""Weights and models at addresses on the network, through `torch.hub`.

A state that is downloaded changes nothing when it is loaded, as one of a file that was not sent. A
model of a repository is the network of that name which replaces torchvision's, else a small
one.
"""

from __future__ import annotations

import os
from functools import wraps
from typing import Any
from urllib.parse import urlparse

import torch.hub
import torch.utils.model_zoo

from ..stubs.objects import Loaded, State
from ..stubs.synthesized import report_synthesized
from ..stubs.torchvision_models import classifier

_hub: Any = torch.hub
_zoo: Any = torch.utils.model_zoo


def install() -> None:
    """Hook the doors of `torch.hub`; what is in its cache is read as ever."""
    states, models = _hub.load_state_dict_from_url, _hub.load

    @wraps(states)
    def load_state_dict_from_url(url: str, *args: Any, **kwargs: Any) -> Any:
        name = kwargs.get("file_name") or os.path.basename(urlparse(str(url)).path)
        folder = kwargs.get("model_dir") or os.path.join(_hub.get_dir(), "checkpoints")
        if os.path.exists(os.path.join(folder, name)):
            return states(url, *args, **kwargs)
        report_synthesized(name, "an empty state")
        return State(name=name)

    @wraps(models)
    def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
        if os.path.isdir(str(repo_or_dir)):
            return models(repo_or_dir, model, *args, **kwargs)
        report_synthesized(f"{repo_or_dir}: {model}", "a small network")
        if "pytorch/vision" in str(repo_or_dir):
            return classifier(model, num_classes=kwargs.get("num_classes", 1000))
        return Loaded()

    _hub.load = load
    _hub.load_state_dict_from_url = load_state_dict_from_url
    _zoo.load_url = load_state_dict_from_url
