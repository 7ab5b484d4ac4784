"""What each field of the HTTP contract means, for the OpenAPI document and /docs.

A field's own `description` comes first; then its schema's row here; then the row of all schemas.
"""

from __future__ import annotations

from collections.abc import Mapping

EVERYWHERE: Mapping[str, str] = {
    "id": "the result's name: who knows it may read the result",
    "url": "the address of its page",
    "status": "how far it has come",
    "verdict": "the answer in a word; null while it runs",
    "summary": "what is wrong, where, and what was tested; the first sentence says the most",
    "fix": "what to do, in a sentence, where the first fix has passed",
    "created_at": "when it was sent",
    "expires_at": "when it will be deleted",
    "timings_ms": "how long each part took",
    "environment": "versions that the script ran with",
    "checks": "what was checked, one by one",
    "name": "its name",
    "detail": "figures and reasons, for people",
    "file": "path within the project",
    "line": "line, from 1",
    "end_line": "last line of the statement, where it is longer than one",
    "code": "the line's text",
    "cell": "the place in a notebook: `cell 4, line 3`",
    "kind": "what kind it is",
    "text": "a sentence for people",
    "path": "path within the project, relative",
    "content": "the file's content",
    "diff": "unified diff, for `git apply`",
    "level": "`safe`: apply it; `unsafe`: it changes the training, or was not compared; "
    "`display_only`: not tested, or it failed a check",
    "effect": "what it does to the training, as measured",
    "pattern": "the pattern's name: `recurrent-state`",
    "title": "a heading",
    "location": "the line to look at first",
    "pattern_hint": "the pattern that the message points to, else that of the first cause",
    "next": "what would settle what is open, most useful first",
    "walls": "which of the sandbox's walls are up",
    "backend": "which kind of sandbox",
    "notes": "what a reader should know besides",
    "witness": "where the two versions first differ",
    "filename": "the script's path, as tracebacks call it",
    "files": "further files",
    "traceback": "the error as it was printed, whole or cut",
    "args": "the script's command-line arguments",
    "time_limit_s": "seconds that one run may take",
    "steps_compared": "how many optimizer steps were compared",
    "steps_equal": "how many of them agree within the tolerance",
}

OF_SCHEMA: Mapping[str, Mapping[str, str]] = {
    "MessageHelp": {
        "message": "the message's entry in the catalogue",
        "means": "what the message means",
        "page": "the entry's page",
    },
    "NonFiniteLoss": {
        "value": "`NaN`, `inf` or `-inf`",
        "iteration": "of the line, from 1",
        "before": "the last finite losses of that line",
    },
    "Assumption": {"name": "what was assumed: a module, a file, a variable"},
    "BriefCause": {"id": "the pattern's stable id: `GM011`", "name": "the tensor, as spelled"},
    "BriefDiagnosis": {"cause": "the first cause", "patch": "the best fix that failed no check"},
    "BriefPatch": {"status": "whether the fix passed its checks"},
    "Carrier": {"name": "the name as spelled: `self.hidden`", "kind": "variable, attribute, item"},
    "Cause": {
        "engine": "whose graph it is: torch's, or one that the script wrote itself",
        "confidence": "how sure, from 0 to 1",
        "source": "the run (`trace`), reading, or both",
        "carrier": "the name that kept the old graph, or that the error is about",
        "parameters": "parameters concerned, by name",
        "created": "where the graph or the value was made",
        "freed_by": "what freed it, changed it in place or cut it off",
        "reached_again_by": "what needed it again, or raised the error",
        "boundary": "what that name crossed: a loop, an epoch, a call, a cell",
        "explanation": "Markdown, with the script's own names and lines",
        "learn_more": "the pattern's page",
    },
    "Check": {
        "status": "`differs`: compared, and not equal; `not_run`: nothing was compared",
    },
    "Diagnosis": {
        "answer": "what the message alone says about the error, where the catalogue has it",
        "error": "the error to explain: of the traceback, else of the run",
        "causes": "causes, best first; empty for a healthy script",
        "patches": "fixes, best first",
        "run": "what the sandboxed run did; null where nothing was run",
        "truncated": "what was cut to fit a limit",
        "basis": "how we know: a run, a completed run, your own trace, reading, a traceback",
        "world": "what was assumed so that the script could run",
    },
    "DiagnosisRequest": {
        "script": "Python source or a notebook's JSON, 1 B to 256 KiB; may be left out where there "
        "is a traceback",
        "files": "the project's other modules and small data, at most 64 files and 2 MiB; a zip of "
        "the project is unpacked (in a form, `script` takes it too)",
        "run": "`never`: only read it",
        "trace": "what `gradmend_trace.py` wrote on your machine, at most 4 MiB",
    },
    "Effect": {
        "against": "the reference: the original with every graph kept, or truncated",
        "schedule": "backward calls and steps, compared with the original's",
    },
    "Environment": {
        "torch": "PyTorch's version",
        "python": "Python's version",
        "platform": "system and architecture",
        "packages": "versions of what the sources import besides, by name",
    },
    "ErrorFrame": {"function": "the function that the line is in"},
    "ErrorReport": {
        "family": "`graph-reuse`, `inplace`, `no-grad`, `silent`, `engine`, or `other`",
        "exception": "the exception's class",
        "message": "its message",
        "frames": "frames, outermost first",
    },
    "Event": {"iteration": "in which iteration, from 1", "op": "the operation"},
    "Health": {"status": "`ok`"},
    "NextStep": {
        "field": "the field of the request to send it in",
        "value": "what to copy: a command, a name",
    },
    "Patch": {
        "n": "its number, from 1: the best",
        "strategy": "what kind of change it is",
        "script": "the whole fixed script",
        "snippet": "the changed lines with a little around them",
        "files": "further files that it changes, whole",
        "gradients": "what became of the gradients, as measured",
        "level_reason": "why a tested fix is not safe, where its effect alone would not say so",
        "tradeoff": "what it costs, where it costs something",
        "verification": "what was checked",
    },
    "PatternEntry": {
        "id": "the stable id: `GM011`; never given twice",
        "family": "the kind of error that it belongs to",
        "summary": "one sentence",
        "text": "Markdown: what happens, the fix, when the fix is wrong",
        "broken": "Python that shows the fault",
        "mended": "the same, fixed",
    },
    "Patterns": {"patterns": "every pattern, by name"},
    "ProblemDetails": {
        "type": "a URN that names the kind of error",
        "status": "the HTTP status",
        "detail": "what is wrong, where, and what to send instead",
        "errors": "fields at fault, with the reason for each",
    },
    "ProgressEvent": {
        "stage": "`reading`, `reproducing`, `verifying`",
        "done": "steps of this stage that are done",
        "total": "steps of this stage",
        "message": "what is being done",
    },
    "Ready": {
        "ready": "whether scripts can be run",
        "reason": "why not, or what is missing",
        "jobs": "how work is queued",
        "assistant": "the address of the assistant that is asked for fixes, where there is one",
        "database": "which database",
        "environment": "`torch`, `python` and `platform` of runs",
        "torches": "further versions of torch that a request may choose",
    },
    "RunReport": {
        "exception": "the exception that ended it",
        "stdout_tail": "the end of what it printed",
        "stderr_tail": "the end of its error output",
        "duration_s": "seconds that it took",
        "backward_calls": "how many backward calls were seen",
        "peak_memory_mib": "memory at most, in MiB",
        "stand_ins": "packages that were replaced",
        "non_finite_loss": "the first loss that was NaN or infinite, if any",
        "tampered": "what the script changed of the instruments that observe it",
        "sandbox": "where it ran",
    },
    "SourceFile": {"encoding": "`base64` for files that are not text"},
    "Timings": {
        "read": "reading the source, in ms",
        "queue": "waiting for a place, in ms",
        "reproduce": "running the original, in ms",
        "verify": "running the fixes, in ms",
        "total": "all of it, in ms",
    },
    "Verification": {"status": "passed where no check failed and the fixed script was run"},
    "Witness": {
        "step": "the first optimizer step that differs, from 1; 0: before it, null: at the end",
        "last_equal_step": "the last step before it that was compared, and is equal",
        "difference": "how far, relative to the gradient's norm",
        "line_before": "the line in the version before",
        "line_after": "the line in the version after",
        "file_before": "the file in the version before",
        "file_after": "the file in the version after",
        "code_before": "that line's text before",
        "code_after": "that line's text after",
        "loss_before": "the loss of that step before",
        "loss_after": "the loss of that step after",
    },
}
ALIKE = {"CauseEvent": "Cause", "PatchEvent": "Patch"}

SCHEMAS: Mapping[str, str] = {
    "Cause": "What is wrong, and where; with what happened to the graph.",
    "Check": "One thing that was checked of a fix.",
    "ErrorFrame": "A frame of the traceback.",
    "Patch": "A fix: its change, what it does to the training, and what was checked.",
    "PatchedFile": "A file that a fix changes, whole.",
    "RunReport": "What the sandboxed run of the original did.",
    "SandboxReport": "Where it ran.",
    "Timings": "How long each part took, in milliseconds.",
    "Verification": "What was checked of a fix, by running it.",
}
"""Descriptions of schemas whose class says nothing of its own."""

PARAMETERS: Mapping[str, str] = {
    "n": "the fix's number, from 1",
    "pattern": "an id (`GM011`) or a name (`recurrent-state`)",
}


def meaning(schema: str, field: str) -> str:
    """Return what a field of a schema means; empty where nobody has said it."""
    own = OF_SCHEMA.get(ALIKE.get(schema, schema), {})
    return own.get(field) or EVERYWHERE.get(field, "")
