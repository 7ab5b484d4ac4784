"""The answer that the catalogue of messages gives, for where no patch has passed."""

from __future__ import annotations

from analyzers.advice import Hint
from analyzers.explain.listed import some
from analyzers.messages import Message, catalogue, entry_for
from analyzers.request.traceback_only import named_in
from app.request.case import Case
from app.schemas import Cause, Location, MessageHelp, Patch


def entry(case: Case) -> Message | None:
    """Return the catalogue's entry for the error that was given, or for what the words ask."""
    given = case.traceback
    if case.asked is not None:
        return catalogue()[case.asked]
    if given is None:
        return None
    return entry_for(given.message, given.family, given.kind, given.code)


def is_named_only(case: Case) -> bool:
    """Return True if the words name an error without its message."""
    given, found = case.traceback, entry(case)
    named = found is not None and given is not None and given.message in found.texts
    return named and given is not None and given.prose_only


def named_cause(case: Case) -> Message | None:
    """Return the same entry if the message alone identifies the kind of fault."""
    found = entry(case)
    return found if found is not None and found.names_cause else None


def first_hint(case: Case) -> Hint | None:
    """Return the likeliest line, setting or usual cause."""
    return next(iter(case.hints), None)


def said_remedy(case: Case, family: str) -> str:
    """Return what the words around the code say of a given error of this family; '' where they name
    no cause of it."""
    hint, found = first_hint(case), entry(case)
    if hint is None or found is None or case.asked is not None or found.family != family:
        return ""
    return with_place(hint, case) if hint.words and not hint.vague else ""


def with_place(hint: Hint, case: Case) -> str:
    """Return a hint's sentence, preceded by its location."""
    if hint.place is None:
        return hint.text[:1].upper() + hint.text[1:]
    cell = case.cell_of(hint.place)
    file = f" of `{hint.place.file}`" if hint.place.file != case.project.entry else ""
    return f"{(cell or f'line {hint.place.line}').capitalize()}{file}: {hint.text}"


def meaning(case: Case) -> str:
    """Return what the given error's message means; '' for unknown messages."""
    found = entry(case)
    if found is None:
        return ""
    message = case.traceback.message if case.traceback is not None else ""
    names = named_in(message)
    return f"{found.means} The message names {some(names)}." if names else found.means


def answer(case: Case, causes: list[Cause], patches: list[Patch]) -> MessageHelp | None:
    """Return what to do about the error, if that is known and no patch has passed.

    If a cause was found, only its own remedy counts.
    """
    found, hint = entry(case), first_hint(case)
    if found is None or (patches and patches[0].verification.status == "passed"):
        return None
    if causes:
        first = causes[0]
        text, location = first.remedy, first.location
        return _answer(found, text, location) if text else None
    if hint is None:
        return None
    place = hint.place
    if place is None:
        return _answer(found, with_place(hint, case), None)
    cell = case.cell_of(place)
    spot = Location(file=place.file, line=place.line, code=hint.code, cell=cell)
    return _answer(found, with_place(hint, case), spot)


def _answer(found: Message, text: str, location: Location | None) -> MessageHelp:
    page = f"/messages#{found.id}"
    return MessageHelp(message=found.id, means=found.means, text=text, location=location, page=page)
