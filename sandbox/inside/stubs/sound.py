"""torchaudio, soundfile, librosa: recordings are noise, and what is computed of them has the sizes
of the original."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

from .noise import noise
from .null_object import NullModule
from .synthesized import name_of, report_synthesized

PROVIDES = ("torchaudio", "soundfile", "librosa")
SAYS = "not installed here: recordings are noise"
RATE, SECONDS = 16_000, 1


def samples(file: Any) -> Any:
    """Return the samples of one recording, of one channel."""
    name = name_of(file)
    report_synthesized(name, "a recording of noise", folder=os.path.dirname(name))
    return noise(name, (RATE * SECONDS,)) * np.float32(0.1)


def load(file: Any, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, int]:
    """Imitate `torchaudio.load`: channels of samples, and the rate."""
    return torch.from_numpy(samples(file))[None], RATE


def read(file: Any, *args: Any, **kwargs: Any) -> tuple[Any, int]:
    """Imitate `soundfile.read` and `librosa.load`."""
    return samples(file).astype(kwargs.get("dtype", np.float32)), kwargs.get("sr") or RATE


class RecordingInfo:
    """What is known of a recording without its samples."""

    num_frames = frames = RATE * SECONDS
    sample_rate = samplerate = RATE
    num_channels = channels = 1
    duration = float(SECONDS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class Spectrum(nn.Module):
    """A fixed linear map of overlapping pieces, squared: as many rows and frames as asked for."""

    weights: torch.Tensor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.size = int(kwargs.get("n_fft", kwargs.get("frame_length", 400)))
        self.hop = int(kwargs.get("hop_length") or self.size // 2)
        rows = kwargs.get("n_mfcc") or kwargs.get("n_mels") or self.size // 2 + 1
        weights = torch.randn(self.size, int(rows), generator=torch.Generator().manual_seed(0))
        self.register_buffer("weights", weights / self.size)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        half = self.size // 2
        pieces = nn.functional.pad(wave, (half, half)).unfold(-1, self.size, self.hop)
        return (pieces @ self.weights.to(wave.dtype)).square().transpose(-1, -2)


class Mel(Spectrum):
    """As many rows as mels, if nothing is said."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(**{"n_mels": 128, **kwargs})


class Mfcc(Spectrum):
    """As many rows as coefficients, if nothing is said."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        size = {k: v for k, v in kwargs.items() if k == "n_mfcc"}
        super().__init__(**{"n_mfcc": 40, **size, **kwargs.get("melkwargs", {})})


class Same(nn.Module):
    """Changes nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, wave: Any, *args: Any, **kwargs: Any) -> Any:
        return wave


class Decibels(Same):
    """The logarithm."""

    def forward(self, wave: Any, *args: Any, **kwargs: Any) -> Any:
        return wave.clamp(min=1e-10).log10() * 10


def same(wave: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the wave unchanged."""
    return wave


def _computed(kind: type[Spectrum]) -> Any:
    def compute(y: Any = None, *args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():
            return kind(**kwargs)(torch.as_tensor(np.asarray(y, np.float32))).numpy()

    return compute


def module(name: str) -> ModuleType:
    """Return `torchaudio.transforms`, `librosa.feature`, `soundfile`, …"""
    if name.startswith("torchaudio"):
        transforms = {"Spectrogram": Spectrum, "MelSpectrogram": Mel, "MFCC": Mfcc}
        unchanged = dict.fromkeys(("Resample", "Vol", "FrequencyMasking", "TimeMasking"), Same)
        return NullModule(
            name,
            ("transforms", "functional") if name == "torchaudio" else (),
            load=load,
            info=RecordingInfo,
            resample=same,
            AmplitudeToDB=Decibels,
            **transforms,
            **unchanged,
        )
    return NullModule(
        name,
        ("feature", "effects", "util") if name == "librosa" else (),
        read=read,
        load=read,
        info=RecordingInfo,
        resample=same,
        power_to_db=_decibels,
        amplitude_to_db=_decibels,
        melspectrogram=_computed(Mel),
        mfcc=_computed(Mfcc),
        stft=_computed(Spectrum),
        to_mono=same,
        normalize=same,
    )


def _decibels(power: Any, *args: Any, **kwargs: Any) -> Any:
    return 10 * np.log10(np.maximum(power, 1e-10))
