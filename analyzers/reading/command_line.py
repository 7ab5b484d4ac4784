"""Options of the command line: a script that is read runs with their defaults."""

from __future__ import annotations

from analyzers.reading.values import AbstractValue, Const, Native, Sequence, Unknown


def parser() -> AbstractValue:
    """Return an `argparse.ArgumentParser` whose parsed options have their defaults."""
    options = Unknown("args", data=True)
    made = Unknown("parser", data=True)

    def add(more: list[AbstractValue], named: dict[str, AbstractValue]) -> AbstractValue:
        flags = [a.value for a in more if isinstance(a, Const) and isinstance(a.value, str)]
        flag = named.get("dest", Const(max(flags, key=len) if flags else ""))
        name = str(flag.value).lstrip("-").replace("-", "_") if isinstance(flag, Const) else ""
        action = named.get("action")
        if "default" in named:
            options.attrs[name] = named["default"]
        elif isinstance(action, Const) and action.value in ("store_true", "store_false"):
            options.attrs[name] = Const(action.value == "store_false")
        return Unknown(data=True)

    made.attrs["add_argument"] = Native(add)
    made.attrs["add_argument_group"] = Native(lambda more, named: made)
    made.attrs["parse_args"] = Native(lambda more, named: options)
    made.attrs["parse_known_args"] = Native(
        lambda more, named: Sequence([options, Sequence([])], "tuple")
    )
    return made
