"""Record the stubs for what a script lacks, and the harness of incomplete code."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from provenance import Text
from sandbox.records.base import Record


class Stub(Record):
    """A substitute that the run used (`cuda`, `wandb`, `torchvision.datasets.MNIST`)."""

    t: Literal["stub"]
    name: Text
    detail: Text = ""


class Needs(Record):
    """Something the script needs that has no stub: a file, a package, an argument."""

    t: Literal["needs"]
    kind: Literal["file", "package", "argument", "input", "network", "device"]
    name: Text
    detail: Text = ""


class Assumed(Record):
    """Something that was not sent and was synthesized so that the script could run.

    `name` as the script spells it (`netD`, `--lr`, `data/train.csv`); `text` is a complete sentence
    for the user.
    """

    t: Literal["assumed"]
    kind: Literal["import", "package", "file", "argument", "name", "api"]
    name: Text
    text: Text = ""


Size = Annotated[int, Field(ge=0, le=1 << 20)]
Shape = Annotated[list[Size], Field(max_length=8)]


class HarnessPlan(Record):
    """The decisions that define the harness of incomplete code, by value path (`netD`, `loader[]`).

    Later runs of the same script follow it (`sandbox.inside.harness.plan`).
    """

    kinds: dict[Text, Text] = Field({}, max_length=256)
    shapes: dict[Text, Shape] = Field({}, max_length=256)
    whole: dict[Text, Size] = Field({}, max_length=256)
    data: Literal["plain", "leaf", "graph"] = "plain"
    shared: bool = False
    weights: bool = False
    moves: bool = True
    repeats: bool = False
    longer: bool = False
    skip: list[Text] = Field([], max_length=64)
    engine: Annotated[str, Field(max_length=4000)] = ""
    carried: bool = False
    absent: bool = False
    looped: bool = False
    optional: bool = False
    rooted: bool = False
    omitted: list[Text] = Field([], max_length=64)


class Planned(HarnessPlan):
    """The plan of a run. `shows`: the wanted error was raised; or, if none was wanted, one that
    does not depend on synthesized values.
    """

    t: Literal["plan"]
    shows: bool = False
