"""How we know what we say, and what was assumed so that the script could run."""

from __future__ import annotations

import re

from analyzers.paste.pasted import UNCHANGED
from app.request.case import Case
from app.run.observation import Observation
from app.schema_types import Basis
from app.schemas import Assumption

MAX_ASSUMPTIONS = 32
_OF_A_HUB = re.compile(r" was not sent: (?=a small (?:network|model with random weights))")
_RESTORED = (
    "The code of `{}` was sent without indentation: where each block ends was taken from what its "
    "lines do. Compare it with yours."
)
_AS_SENT = ("package", "api")  # a script in which only these were replaced ran as it was sent


def basis_of(case: Case, seen: Observation) -> Basis | None:
    """Return what the findings rest on: a run, a completed run, the user's own, or reading; None if
    the script could not be read.
    """
    if case.problem is not None and not seen.evidence:
        return None
    if case.project.recalled:
        return "traceback"
    if seen.run is not None and seen.run.trace is not None and seen.trace is seen.run.trace:
        decided = seen.from_run or not seen.evidence  # else static analysis found it
        if decided and seen.run.status != "unavailable":
            return "completed" if is_completed(case, seen) else "run"
    elif seen.trace is not None and seen.from_run:
        return "trace"
    return "reading"


def is_completed(case: Case, seen: Observation) -> bool:
    """Return True if the run needed more than stub packages."""
    if seen.plan is not None or any(pasted.restored for pasted in case.pasted.values()):
        return True
    assumed = seen.trace.assumed if seen.trace is not None else []
    return any(a.kind not in _AS_SENT for a in assumed)


def assumptions(case: Case, seen: Observation) -> list[Assumption]:
    """Return everything that replaced what was not sent, each named once."""
    assumed = seen.trace.assumed if seen.trace is not None else []
    stubs = seen.trace.stubs if seen.trace is not None else []
    listed = [Assumption(kind=a.kind, name=a.name, text=_sentence(a.text)) for a in assumed]
    for path, pasted in case.pasted.items():
        if pasted.restored:
            text = _RESTORED.format(path)
            listed.append(Assumption(kind="indentation", name=path, text=text))
    for line in case.pasted.get(case.project.entry, UNCHANGED).quoted:
        text = f"`{line}` was read from the words around the code."
        listed.append(Assumption(kind="name", name=line.partition("=")[0].strip(), text=text))
    known = {assumption.name for assumption in listed}
    for stub in stubs:
        if stub.name not in known:
            how = "is" if stub.detail.startswith("not installed") else "was replaced:"
            text = f"`{stub.name}` {how} {stub.detail}."
            listed.append(Assumption(kind="package", name=stub.name, text=text))
    return list({(a.kind, a.name, a.text): a for a in listed}.values())[:MAX_ASSUMPTIONS]


def _sentence(text: str) -> str:
    """Return an assumption's sentence; a hub's models are no files that anybody would send."""
    return _OF_A_HUB.sub(" is not available in the sandbox: ", text)
