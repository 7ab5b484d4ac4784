"""Use a traceback without its script: the lines that its frames show and what its message says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, GraphReuse, InplaceChange, KnownError, MissingGraph
from analyzers.explain.pattern import Match, of_several_losses, usually
from analyzers.messages import entry_of
from analyzers.source import priors
from analyzers.source.flow import names_read
from analyzers.source.priors import names_several_losses
from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned
from analyzers.source.trees import nodes_of, walk
from analyzers.source.writes import writes
from analyzers.tracebacks import ParsedTraceback, TracebackFrame
from provenance import BackwardCall, CodeLine, Node, Referrer, StaleEdge

MAX_LINE = 20_000
_LISTED = re.compile(r"did not receive grad for rank \d{1,6}: ([A-Za-z_][\w., ]{0,4000})")
_NAMED = re.compile(
    r"with name ([\w.]{1,200})|[Ff]unction '?(\w{1,120}?)(?:Backward\d*)?'? returned"
)
_BACKWARD = ("backward", "_backward", "backprop", "backpropagate")


def files_of(traceback: ParsedTraceback, entry: str) -> dict[str, str]:
    """Return files that contain the lines which the user's frames show, at their line numbers, and
    no others. Frames in notebook cells or in files without a name become lines of `entry`.
    """
    lines: dict[str, dict[int, str]] = {entry: {}}
    for frame in _own([*traceback.forward_frames, *traceback.frames]):
        code = _statement(frame.code)
        if code and 0 < frame.line <= MAX_LINE:
            lines.setdefault(_file(frame, entry), {})[frame.line] = code
    return {
        path: "\n".join(shown.get(n, "") for n in range(1, max(shown, default=0) + 1)) + "\n"
        for path, shown in lines.items()
    }


def evidence_of(traceback: ParsedTraceback, entry: str) -> Evidence | None:
    """Return what the message says about the user's innermost frame; None for errors of other
    kinds.
    """
    own = _own(traceback.frames)
    if traceback.family == "engine":  # the script's backward call, not the engine's frame
        own = [f for f in own if f.function.rpartition(".")[2] not in _BACKWARD] or own
    stack = tuple(CodeLine(_file(frame, entry), frame.line, frame.function) for frame in own)
    known = entry_of(traceback.message, traceback.code)
    if known is not None and known.names_cause and known.kind is not None:
        stack = tuple(place for place in stack if place.line)
        last = stack[-1] if stack else None
        through = [frame for frame in traceback.frames if frame.is_library]
        return KnownError(
            known.id,
            known.kind,
            "predicted",
            traceback.message,
            last,
            stack,
            named_in(traceback.message),
            through=tuple(CodeLine(f.file, f.line, f.function) for f in through),
        )
    if not stack:
        return None
    at, message = stack[-1], traceback.message
    backward_call = BackwardCall(at, n=2, stack=stack)
    made = _made(traceback, entry)
    match traceback.family:
        case "graph-reuse" | "engine":
            stale_edges = (
                (StaleEdge(made, holders=_holders(traceback)),) if made is not None else ()
            )
            engine = "custom" if traceback.family == "engine" else "torch"
            return GraphReuse(
                BackwardCall(at, n=1, stack=stack),
                backward_call,
                "predicted",
                message,
                remade=True,
                stale_edges=stale_edges,
                engine=engine,  # type: ignore[arg-type]
            )
        case "inplace":
            kind = traceback.kind or "saved"
            return InplaceChange(
                kind,  # type: ignore[arg-type]
                "predicted",
                message,
                reached=backward_call if kind == "saved" else None,
                at=at,
                node=made,
                holders=_asked_for(own[-1]) if kind != "saved" else (),
            )
        case "no-grad":
            of_module = known is not None and known.of_module
            holders = () if of_module else _asked_for(own[-1])
            rebound = at if "NoneType" in message and _is_assignment(own[-1]) else None
            return MissingGraph("predicted", message, at, stack, holders, rebound)
    return None


def named_in(message: str) -> tuple[str, ...]:
    """Return what a message names: DDP's parameters, the Function whose backward failed."""
    listed = [name.strip() for names in _LISTED.findall(message) for name in names.split(",")]
    named = [name for found in _NAMED.findall(message) for name in found]
    return tuple(dict.fromkeys(filter(None, [*named, *listed])))[:8]


def _is_assignment(frame: TracebackFrame) -> bool:
    text = _statement(frame.code)
    return bool(text) and isinstance(ast.parse(text).body[0], ast.Assign)


def _asked_for(frame: TracebackFrame) -> tuple[Referrer, ...]:
    """Return the names that the failing line writes to, calls backward on, or passes to the failing
    call.
    """
    project = Project({"line": _statement(frame.code)}, "line")  # which knows torch's names
    statement = next((s for m in project.modules.values() for s in m.tree.body), None)
    if statement is None:
        return ()
    calls = nodes_of(statement, ast.Call)
    computes = any(_is_computed(argument) for call in calls for argument in call.args)
    found = [write.name for write in writes(statement) if not write.name.endswith(".grad")]
    for node in walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr="grad")):
                found = [spelled(k.value) for k in node.keywords if k.arg == "inputs"]
                found += [spelled(argument) for argument in node.args[1:2]]
                break
            case ast.Attribute(value=owner, attr="grad") if isinstance(node.ctx, ast.Load):
                found.append(spelled(owner))
            case ast.Call(func=ast.Attribute(value=owner, attr="backward" | "numpy"), args=[]):
                found.append(spelled(owner))
            case ast.Call(func=ast.Attribute(value=owner, attr="to" | "cuda")):
                found.append(spelled(owner))
            case ast.Call(args=[ast.Name() | ast.List(elts=[ast.Name()]), *_] as given):
                found += [] if computes else _meant(given)
    named = [name for name in found if name.replace(".", "_").isidentifier()]
    return tuple(Referrer(name, frame.function) for name in dict.fromkeys(named))[:1]


def _meant(given: Iterable[ast.expr]) -> list[str]:
    """Return the argument that is meant: the only name, or of several the only loss by its name."""
    names = [spelled(arg).strip("[]") for arg in given if isinstance(arg, ast.Name | ast.List)]
    losses = [name for name in names if priors.is_loss(name)]
    return names if len(names) == 1 else losses if len(losses) == 1 else []


def _is_computed(node: ast.expr) -> bool:
    """Return True if an argument is computed where it is given: of several values, any may be
    meant.
    """
    return isinstance(node, ast.BinOp | ast.ListComp | ast.GeneratorExp)


def is_vague(match: Match) -> bool:
    """Return True if the traceback fits many causes: it reports a second use,
    and no name is known.
    """
    return isinstance(match.evidence, GraphReuse) and match.carrier is None


def explained(title: str, at: CodeLine, code: str) -> str:
    """Return Markdown: what the traceback shows, and what the script would add."""
    shown = f" (`{code}`)" if code else ""
    return (
        f"{title}: the likeliest cause of such an error at line {at.line}{shown}. "
        "Only a traceback was sent. With the script, the tensor and the line that made it can be "
        "named, the error reproduced, and a patch run."
    )


def without_sources(title: str, at: CodeLine, code: str) -> str:
    """Return Markdown: what the traceback shows if the sources show no more."""
    shown = f" (`{code}`)" if code else ""
    return (
        f"{title}: the likeliest cause of such an error at line {at.line}{shown} of `{at.file}`. "
        "The traceback says so; nothing in the sources shows it."
    )


def usual(evidence: Evidence, project: Project) -> list[Match]:
    """Return the usual causes of a second use, for frames that show no more
    than the backward call. Lines that name several losses fit losses of one graph better.
    """
    if not isinstance(evidence, GraphReuse) or evidence.stale_edges:
        return []
    at = evidence.reached.at
    found = [Match(name, Certainty.USUAL, evidence, at) for name in usually()]
    if names_several_losses("\n".join(project.files.values())):
        found += [Match(name, Certainty.POSSIBLE, evidence, at) for name in of_several_losses()]
    return found


def _own(frames: Iterable[TracebackFrame]) -> list[TracebackFrame]:
    return [frame for frame in frames if not frame.is_library]


def _file(frame: TracebackFrame, entry: str) -> str:
    return frame.file if frame.cell is None and frame.file.endswith(".py") else entry


def _statement(code: str) -> str:
    """Return the line as a complete statement; empty if it is only a part of one."""
    for text in (code.strip(), f"{code.strip()} pass"):
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return text
    return ""


def _made(traceback: ParsedTraceback, entry: str) -> Node | None:
    """Return the node of the forward call that anomaly mode names."""
    frame = traceback.forward
    if frame is None or frame.is_library:
        return None
    at = CodeLine(_file(frame, entry), frame.line, frame.function)
    return Node(traceback.forward_op or "unknown", at)


def _holders(traceback: ParsedTraceback) -> tuple[Referrer, ...]:
    """Return names that the forward line both reads and binds, such as a state; else those
    bound."""
    frame = traceback.forward
    text = _statement(frame.code) if frame is not None else ""
    body = ast.parse(text).body if text else []
    if not body:
        return ()
    bound = assigned(body[0])
    carried = [name for name in bound if name in names_read(body[0])]
    return tuple(Referrer(name, frame.function if frame else "") for name in carried or bound)
