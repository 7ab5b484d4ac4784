"""Required arguments that nobody gave: filled in by what argparse and click know of them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from functools import wraps
from pathlib import Path
from typing import Any

from .finding import Report, when_imported
from .sources import settings, shown

# words of an argument's name → a value; the first line that fits is taken
_WORDS: tuple[tuple[str, str], ...] = (
    ("lr rate", "0.001"),
    ("wd decay eps epsilon", "0.0001"),
    ("momentum beta beta1 gamma", "0.9"),
    ("dropout p prob ratio frac fraction weight alpha lambda lam temperature sigma std", "0.1"),
    ("smoothing", "0.1"),
    ("epochs epoch iters iterations steps episodes", "3"),
    ("batch batchsize bs", "4"),
    ("seed workers worker rank gpu gpus device devices verbose debug start", "0"),
    ("world nodes layers layer depth heads", "1"),
    ("dim size hidden width channels nz ngf ndf features units", "16"),
    ("classes classnum vocab", "10"),
)
_TEXTS: tuple[tuple[str, str], ...] = (
    ("device", "cpu"),
    ("out output outdir save log logs logdir run runs results snapshot", "out"),
    ("config cfg yaml yml", "config.yaml"),
    ("json", "data.json"),
    ("csv tsv", "data.csv"),
    ("npy npz", "data.npz"),
    ("txt text corpus vocab", "data.txt"),
    ("checkpoint ckpt pretrained weights resume pth pt", "checkpoint.pt"),
    ("file filename", "data.txt"),
    ("data dataset dataroot datadir dir root path folder input train val test", "data"),
)
_TRIED = ("1", "0.1", "true", "none")


class _Missing(Exception):
    """What a parser asks for, instead of the end of the script."""


def install(report: Report) -> None:
    """Let parsers go on with values of ours where required ones are missing."""
    parser: Any = argparse.ArgumentParser
    parse, refuse = parser.parse_known_args, parser.error

    def error(self: argparse.ArgumentParser, message: str) -> Any:
        if "required" in message:
            raise _Missing(message)
        return refuse(self, message)

    @wraps(parse)
    def parse_known_args(self: Any, args: Any = None, namespace: Any = None) -> Any:
        for _ in self._actions:
            try:
                return parse(self, args, namespace)
            except _Missing as missing:
                wanted = _wanted(self, str(missing))
                if args is None and len(sys.argv) == 1 and (args := shown(Path(sys.argv[0]).stem)):
                    report("sys.argv", said(args), "argument")
                    continue
                if not wanted:
                    return refuse(self, str(missing))
                for action in wanted:
                    _relax(self, action, report)
        return parse(self, args, namespace)

    parser.error, parser.parse_known_args = error, parse_known_args
    when_imported("click.core", lambda click: _fill_click(click, report))


def _wanted(parser: argparse.ArgumentParser, message: str) -> list[argparse.Action]:
    """Return the actions that the message names."""
    named = set(re.split(r"[\s,]+", message))
    found = [a for a in parser._actions if argparse._get_action_name(a) in named]
    for group in parser._mutually_exclusive_groups:
        if group.required and found and found[0] in group._group_actions:
            group.required = False
            return found[:1]
    return found


def _relax(parser: argparse.ArgumentParser, action: argparse.Action, report: Report) -> None:
    """Make an action do without an argument."""
    one = _value(action, parser)
    many = action.nargs if isinstance(action.nargs, int) else 1
    value = one if action.nargs in (None, "?") else [one] * many
    if isinstance(action, argparse._SubParsersAction):
        chosen = action.choices[str(one)]
        parser.set_defaults(**vars(chosen.parse_args([])))
        value, action.choices = one, None  # type: ignore[assignment]
    if not action.option_strings:
        action.nargs = "?" if action.nargs is None else "*"
        action.choices = action.choices if action.nargs == "?" else None
    action.required, action.default = False, value
    name = action.option_strings[-1] if action.option_strings else action.dest
    report(name, filled_in(name, value), "argument")


def said(words: list[str]) -> str:
    """Return the sentence for arguments that the project's own text runs the script with."""
    return f"Required arguments were not given: `{' '.join(words)}` from the sources was used."


def filled_in(name: str, value: Any) -> str:
    """Return the sentence for a value that was filled in."""
    return f"`{name}` is required and was not given: the value `{value}` was used."


def _value(action: argparse.Action, parser: argparse.ArgumentParser) -> Any:
    if action.choices:
        return _chosen(list(action.choices))
    kind = action.type
    if kind in (int, float):
        like = _of_another(action, parser._actions)
        if like is not None:
            return like
    return value_for(action.dest, kind)


def _chosen(choices: list[Any]) -> Any:
    """Return the choice that trains, else the first."""
    return next((c for c in choices if str(c).startswith("train")), choices[0])


def _of_another(action: argparse.Action, others: Iterable[argparse.Action]) -> Any:
    """Return the default of another argument of the same type with a similar end of its name."""
    last = _words_of(action.dest)[-1:]
    for other in others:
        if other.type is action.type and isinstance(other.default, int | float):
            if other is not action and _words_of(other.dest)[-1:] == last:
                return other.default
    return None


def value_for(name: str, kind: Any = None) -> Any:
    """Return a value for an argument of this name; `kind` parses it, as argparse's types do."""
    words = _words_of(name)
    number = _first(_WORDS, words)
    if kind is int:
        return int(float(number)) if number else 2
    if kind is float:
        return float(number) if number else 0.5
    if kind is bool:
        return False
    said = _first(_TEXTS, words)
    said = (settings() if said == "config.yaml" else None) or said
    if kind in (None, str):
        return said or name
    for text in (number, said, *_TRIED, name):
        try:
            if text is not None:
                return kind(text)
        except Exception:  # the script's own `type=` says by any error that a text is none of its
            continue
    return None


def setting_for(name: str) -> str:
    """Return a string for an environment variable of this name."""
    words = _words_of(name)
    return _first(_WORDS, words) or _first(_TEXTS, words) or name.lower()


def _words_of(name: str) -> list[str]:
    parted = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return [word for word in re.split(r"[^a-z0-9]+", parted) if word]


def _first(table: tuple[tuple[str, str], ...], words: list[str]) -> str | None:
    return next((value for known, value in table if set(known.split()) & set(words)), None)


def _fill_click(core: Any, report: Report) -> None:
    """Fill in click's options and arguments."""
    process = core.Parameter.process_value

    def process_value(self: Any, context: Any, given: Any) -> Any:
        try:
            return process(self, context, given)
        except core.MissingParameter:
            choices = getattr(self.type, "choices", None)
            kind = {"integer": int, "float": float, "boolean": bool}.get(self.type.name)
            value = _chosen(list(choices)) if choices else value_for(self.name, kind)
            name = self.opts[-1] if self.opts else self.name
            report(name, filled_in(name, value), "argument")
            return process(self, context, [value] * self.nargs if self.nargs > 1 else value)

    core.Parameter.process_value = process_value
