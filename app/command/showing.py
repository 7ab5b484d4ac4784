"""Findings for people, in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from app.present import fix_wording, wording
from app.present.visible import all_visible
from app.schemas import Cause, Findings, Patch

MARKS = {
    "passed": "[green]✓[/]",
    "failed": "[red]✗[/]",
    "differs": "[yellow]≠[/]",
    "not_run": "[yellow]–[/]",
}
STATE_STYLES = {"good": "bold green", "unsure": "bold yellow", "plain": "bold"}
DIFF_STYLES = {"+": "green", "-": "red", "@": "dim"}
HANGING = "    "  # before the further lines of a list item
MIN_WIDTH = 40


def show(findings: Findings, console: Console, *, apply: str = "", verbose: bool = False) -> None:
    """Verdict, causes, the best patch and how to `apply` it, its checks (`verbose`: each
    with its figures); nothing in them acts on a terminal."""
    findings = Findings.model_validate(all_visible(findings.model_dump()))
    state = wording.state(findings)
    colour = STATE_STYLES[state.tone]
    console.print(f"[{colour}]{escape(state.words)}[/]  {escape(findings.summary)}")
    for note in findings.notes:
        console.print(f"[bold yellow]note:[/] {escape(note)}")
    if findings.fix:
        console.print(f"[bold]{escape(findings.fix)}[/]")
    for cause in findings.causes[:1]:
        console.print(f"\n[bold]{cause.id} {cause.pattern}[/]  {_where(cause)}")
        console.print(_prose(cause.explanation))
    for cause in findings.causes[1:]:
        rank = wording.rank_of(cause, findings.causes[0])
        console.print(f"[dim]{rank}:[/] {cause.id} {cause.pattern}  {_where(cause)}")
    for patch in findings.patches[:1]:
        _show_patch(patch, console, apply, verbose=verbose)
    if others := len(findings.patches) - 1:
        _offer(others, console)
    for assumed in findings.world:
        console.print(f"[dim]assumed:[/] {escape(assumed.text)}")
    for step in wording.open_steps(findings)[:2]:
        console.print(f"[bold]next:[/] {escape(step.text)}")
        if step.value:
            console.print(f"  {escape(step.value)}", soft_wrap=True)


def show_diff(diff: str, console: Console) -> None:
    """A unified diff, in its usual colours."""
    for line in diff.splitlines():
        console.print(Text(line, style=DIFF_STYLES.get(line[:1], "")), soft_wrap=True)


def _prose(text: str) -> Text:
    """An explanation: paragraphs with `code` in them, which is all the Markdown that it holds."""
    parts = text.split("`")
    return Text().join(Text(part, "bold cyan" * (n % 2)) for n, part in enumerate(parts))


def _show_patch(patch: Patch, console: Console, apply: str, *, verbose: bool) -> None:
    notes = f"{fix_wording.level_and_proof(patch)}; {fix_wording.effect(patch)}"
    console.print(f"\n[bold]{escape(patch.title)}[/]  [dim]{escape(notes)}[/]")
    show_diff(patch.diff, console)
    if apply:
        console.print(f"[bold]{escape(apply)}[/]", soft_wrap=True)
    if not verbose:
        asked = fix_wording.asked(patch)
        checks = (f"{MARKS[c.status]} {escape(fix_wording.chip(c, patch))}" for c in asked)
        console.print("  ".join(checks))
        return
    for check in fix_wording.asked(patch):
        chip = fix_wording.chip(check, patch)
        _print_item(f"{MARKS[check.status]} {chip}  [dim]{escape(check.detail)}[/]", console)


def _print_item(markup: str, console: Console) -> None:
    """Print an item of a list; the lines after its first are indented further."""
    width = max(console.width - len(HANGING), MIN_WIDTH)
    for n, line in enumerate(Text.from_markup(markup).wrap(console, width)):
        console.print(Text(HANGING if n else HANGING[2:]) + line, soft_wrap=True)


def _offer(others: int, console: Console) -> None:
    if others == 1:
        console.print("[dim]1 more fix: --diff --fix=2 shows it[/]")
    elif others > 1:
        console.print(
            f"[dim]{others} more fixes: --diff --fix=2 to --fix={others + 1} show them[/]"
        )


def _where(cause: Cause) -> str:
    place = cause.location.cell or f"{cause.location.file}:{cause.location.line}"
    return f"[dim]{escape(place)}  {cause.confidence:.0%}[/]"
