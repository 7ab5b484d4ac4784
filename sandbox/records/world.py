"""What stood in for what a script lacks, and how a part of a program was completed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sandbox.records.base import Record, Text


class StandIn(Record):
    """A substitute that the run used (`cuda`, `wandb`, `torchvision.datasets.MNIST`)."""

    t: Literal["stand_in"]
    name: Text
    detail: Text = ""


class Needs(Record):
    """Something the script wants that has no stand-in: a file, a package, an argument."""

    t: Literal["needs"]
    kind: Literal["file", "package", "argument", "input", "network", "device"]
    name: Text
    detail: Text = ""


class Assumed(Record):
    """Something that was not sent and was put in its place, so that the script could run.

    `name` as the script spells it (`netD`, `--lr`, `data/train.csv`); `text` is a whole sentence
    for the user.
    """

    t: Literal["assumed"]
    kind: Literal["import", "package", "file", "argument", "name", "api"]
    name: Text
    text: Text = ""


Size = Annotated[int, Field(ge=0, le=1 << 20)]
Shape = Annotated[list[Size], Field(max_length=8)]


class Plan(Record):
    """The decisions that made the world of a completed run, by value path (`netD`, `loader[]`).

    See `sandbox.inside.worlds.plan`: later runs of the same text follow it.
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
    again: bool = False
    optional: bool = False
    unsaid: list[Text] = Field([], max_length=64)


class Planned(Plan):
    """`shows`: the world raised the wanted error; or, where none was wanted, one that does not
    hang on what was made up."""

    t: Literal["world"]
    shows: bool = False
