"""Stand-ins for packages that are not there: scripts get through, and learn nothing false."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

from sandbox.inside.standins import Finder, matplotlib, pandas, tensorboard, tqdm, wandb
from sandbox.inside.standins.answers import Answers
from sandbox.inside.standins.nothing import Nothing


@pytest.fixture
def reported() -> Iterator[list[str]]:
    """Names told while a finder stands in for a package that no machine has."""
    told: list[str] = []
    finder = Finder({"no_such_logger": tensorboard}, lambda name, *detail: told.append(name))
    sys.meta_path.append(finder)
    yield told
    sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name.startswith("no_such_logger")]:
        del sys.modules[name]


def test_a_substitute_is_made_when_imported_and_not_before(reported: list[str]) -> None:
    assert reported == []
    part = importlib.import_module("no_such_logger.deep.down")
    assert isinstance(part, ModuleType)
    assert set(reported) == {"no_such_logger"}


def test_other_missing_packages_stay_missing(reported: list[str]) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_logger_at_all")
    assert reported == []


def test_writers_take_every_call() -> None:
    writer: Any = tensorboard.module("torch.utils.tensorboard").SummaryWriter("runs")
    writer.add_scalar("loss", 1.0, global_step=3)
    with writer as same:
        assert same is writer


def test_a_class_of_a_substitute_can_be_a_base() -> None:
    class Mine(tensorboard.module("tensorboardX").SummaryWriter):  # type: ignore[misc]
        def twice(self) -> int:
            return 2

    assert Mine().twice() == 2


@pytest.mark.parametrize("start", [0, 3])
def test_bars_pass_their_items_through(start: int) -> None:
    bars: Any = tqdm.module("tqdm.auto")
    bar = bars.tqdm(range(start, 5), desc="epoch")
    assert len(bar) == 5 - start
    assert list(bar) == list(range(start, 5))
    assert list(bars.trange(start, 5)) == list(range(start, 5))


def test_bars_without_items_can_be_driven_by_hand() -> None:
    with tqdm.module("tqdm").tqdm(total=4) as bar:
        bar.update(1)
        bar.set_postfix(loss=0.5)
        assert bar.total == 4


def test_bars_write_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    tqdm.module("tqdm").tqdm.write("epoch 1")
    assert capsys.readouterr().out == "epoch 1\n"


def test_configuration_can_be_read_back() -> None:
    logger: Any = wandb.module("wandb")
    run = logger.init(project="p", config={"lr": 0.1})
    logger.config.update({"depth": 3}, allow_val_change=True)
    run.log({"loss": 1.0})
    assert (logger.config.lr, run.config["depth"]) == (0.1, 3)
    with pytest.raises(AttributeError):
        _ = logger.config.width


@pytest.mark.parametrize(("rows", "columns", "key"), [(1, 2, 1), (3, 1, 2), (2, 3, (1, 2))])
def test_axes_come_in_the_shape_asked_for(rows: int, columns: int, key: Any) -> None:
    plots: Any = matplotlib.module("matplotlib.pyplot")
    figure, axes = plots.subplots(rows, columns, figsize=(4, 3))
    (line,) = axes[key].plot([1, 2], label="loss")
    assert isinstance(line, Nothing)
    assert len(axes.flatten()) == rows * columns
    figure.savefig("loss.png")


def test_a_plot_refuses_what_has_a_graph_as_the_real_one_does() -> None:
    plots: Any = matplotlib.module("matplotlib.pyplot")
    loss = torch.ones(3, requires_grad=True).sum()
    (line,) = plots.plot([loss.item()], loss.detach())
    for draw in (plots.plot, plots.scatter, line.set_ydata, plots.hist):
        with pytest.raises(RuntimeError, match="call numpy"):
            draw([loss])


def test_a_single_axes_is_no_collection() -> None:
    _, axes = matplotlib.module("matplotlib.pyplot").subplots()
    counts, edges, patches = axes.hist([1, 2, 3])
    assert all(isinstance(part, Nothing) for part in (counts, edges, patches))


def test_nothing_is_empty_false_and_goes_on() -> None:
    nothing = Nothing()
    assert list(nothing) == []
    assert not nothing
    assert isinstance(nothing.any.thing["at"].all(1, b=2), Nothing)


def test_a_row_of_a_table_that_was_made_up_has_every_column() -> None:
    table = pandas.DataFrame.made_up("marks.parquet")
    row: Any = table.iloc[2]
    assert row.weight == row["weight"] == table["weight"].values[2]
    known = pandas.DataFrame({"weight": [1.0, 2.0]}).iloc[1]
    assert known.weight == 2.0
    with pytest.raises(AttributeError):
        _ = known.height


def test_every_part_of_a_split_that_was_made_up_has_rows() -> None:
    table = pandas.DataFrame.made_up("marks.parquet")
    train, held = (table[table["split"] == part] for part in ("train", "val"))
    assert len(train) + len(held) == len(table)
    assert len(train) == len(held)
    assert len(train["weight"]) == len(train)  # a column that nobody had asked for before
    assert not (table["split"] != "train").values[::2].any()
    assert table["split"].isin(["train", "val"]).values.all()
    sent = pandas.DataFrame({"split": ["train", "train"]})
    assert len(sent[sent["split"] == "val"]) == 0


def test_a_table_is_told_as_dictionaries() -> None:
    table = pandas.DataFrame({"text": ["a", "b"], "label": [0, 1]})
    assert table.to_dict("records") == [{"text": "a", "label": 0}, {"text": "b", "label": 1}]
    assert table.to_dict("list") == {"text": ["a", "b"], "label": [0, 1]}
    assert table.to_dict()["label"] == {0: 0, 1: 1}
    row = pandas.DataFrame.made_up("claims.csv").to_dict("records")[3]
    assert isinstance(row["text"], str)
    assert isinstance(row, dict)


def test_a_setting_that_counts_is_a_number() -> None:
    settings = Answers()
    assert isinstance(settings.n_tags, int)
    assert isinstance(settings.max_message, int)
    assert isinstance(settings.tag, str)
