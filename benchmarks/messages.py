"""Which messages about graphs and gradients the installed packages raise, and which are known.

Reads the raise sites and warnings of the installed sources, and the strings of torch's compiled
libraries; compares them with the catalogue of messages. With a new torch, what is new shows as
`new`; what is left out on purpose (internal checks, documents of other things, pieces of messages,
arguments of vmap) is in `left_out.txt`, by its digest.

    python -m benchmarks.messages            shares by package, and what is new
    python -m benchmarks.messages --texts    every text of the catalogue, its entry and page
"""

from __future__ import annotations

import argparse
import ast
import mmap
import re
import sysconfig
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import fill

from analyzers.explain.pattern import pattern_for
from analyzers.messages import Message, catalogue, entry_of, plain

PACKAGES = ("torch", "lightning", "accelerate", "peft", "deepspeed", "transformers")
PARTS = {  # of torch, that have to do with graphs and gradients
    "autograd": r"torch/autograd/(__init__|function|graph|functional)\.py|torch/_tensor\.py",
    "checkpoint": r"torch/utils/checkpoint\.py",
    "DDP": r"torch/nn/parallel/",
    "FSDP and DTensor": r"torch/distributed/(fsdp|tensor|_composable)/",
    "scaler": r"torch/amp/|torch/cuda/amp/|torch/optim/optimizer\.py",
    "torch.func": r"torch/_functorch/(apis|autograd_f|eager_transforms|functional_call|vmap)",
    "AOTAutograd": r"torch/_functorch/(aot_autograd|_aot_autograd/|partitioners)",
    "inductor": r"torch/_inductor/(cudagraph_trees|compile_fx)",
    "modules": r"torch/nn/(modules/module|parameter|utils/)",
    "Lightning": r"lightning/(pytorch|fabric)/",
}
ABOUT = re.compile(
    r"backward|requires_grad|autograd|inference tensor|inference mode|in-?place|double backward|"
    r"recomput|retain_graph|non-leaf|leaf (?:tensor|variable)|unscale|inf checks|grad_fn|"
    r"(?<!up)grad(?:ient)?s? |vmap|functorch|metadata",
    re.IGNORECASE,
)
INTERNAL = re.compile(
    r"INTERNAL ASSERT|must not be None|to be (?:not )?None|^expected .{0,40} (?:got|to be)|len\(|"
    r"please report|is deprecated|experimental|not callable|unexpected|gradcheck|jvp|forward AD|"
    r"forward-mode|aot_export|onnx|jit|quantiz|knapsack|serializ|subclass|stream",
    re.IGNORECASE,
)
OF_CPP = re.compile(  # among the strings of compiled libraries stand documents of other things
    r"autograd|requires? grad|grad_fn|backward(?:\(\)| through| pass)|in-?place op|in-?place modif|"
    r"inference (?:tensor|mode)|leaf [vV]ariable|non-leaf|vmap|functorch|saved (?:tensor|variable)|"
    r"double backward|derivative|retain_graph|version counter|detach",
    re.IGNORECASE,
)
NOT_OF_CPP = re.compile(
    r"primitive|schema|RPC|context|momentum|opset|scale_factor|profil|RRef|kernel|dispatch|worker|"
    r"forward grad|operator|C\+\+|clamp|pooling|nested|sparse|xnnpack|fuse|lower|meta function",
    re.IGNORECASE,
)
SENTENCE = re.compile(rb"[\x20-\x7e\n]{28,700}")
PROSE = re.compile(r"\b(?:the|is|are|a|not|to|of|be|cannot|has|was|only)\b")
CODE = re.compile(r"::|->|=>|%\w|\bdef |return |^\W|\.cpp|aten::|AD_|__\w|Args:|\bc10\b|torch\._C")


@dataclass(frozen=True, order=True)
class Site:
    """A place that raises or warns; `text` with `…` for what is put in."""

    part: str
    where: str
    text: str


def sites() -> Iterator[Site]:
    """The sites of the installed packages, in the parts that have to do with gradients."""
    root = Path(sysconfig.get_paths()["purelib"])
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            part = next((p for p, files in PARTS.items() if re.match(files, name)), None)
            if part is not None or package not in ("torch", "lightning"):
                yield from _raised(part or package, name, path.read_text("utf-8", "replace"))
    for library in ("libtorch_cpu.so", "libtorch_python.so"):
        path = root / "torch" / "lib" / library
        if path.exists():
            yield from _compiled(path)


def _raised(part: str, name: str, text: str) -> Iterator[Site]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Raise | ast.Call):
            continue
        given: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            given = node.exc.args
        elif isinstance(node, ast.Call) and spelled(node.func) in ("warn", "_check", "warn_once"):
            given = node.args[:2]
        for value in given[:2]:
            said = " ".join(_text(value).split())
            if len(said) > 20 and ABOUT.search(said) and not INTERNAL.search(said):
                yield Site(part, f"{name}:{node.lineno}", said)


def spelled(node: ast.expr) -> str:
    """The last part of what is called."""
    return getattr(node, "attr", getattr(node, "id", ""))


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(v) if isinstance(v, ast.Constant) else "…" for v in values)
        case ast.BinOp(left=left, op=ast.Mod()):
            return re.sub(r"%[sdrf]", "…", _text(left))
        case ast.BinOp(left=left, right=right):
            return _text(left) + _text(right)
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return re.sub(r"\{[^}]*\}", "…", _text(value))
    return ""


def _compiled(path: Path) -> Iterator[Site]:
    """The sentences among a library's strings: pieces of messages, as C++ puts them together."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        seen: set[str] = set()
        for found in SENTENCE.finditer(data):
            text = " ".join(found[0].decode("ascii").split())
            if text in seen or not OF_CPP.search(text) or len(PROSE.findall(text)) < 2:
                continue
            seen.add(text)
            if not any(no.search(text) for no in (INTERNAL, NOT_OF_CPP, CODE)):
                yield Site("C++", path.name, text)


def covered(site: Site) -> bool:
    """Whether the catalogue knows the site's message; C++ has messages in pieces, of which a text
    of the catalogue may be longer."""
    if entry_of(site.text) is not None:
        return True
    piece = plain(site.text)
    texts = (t for entry in catalogue().values() for parts in entry.parts for t in parts)
    return any(piece in text for text in texts if len(piece) > 20) or _is_piece(piece)


def _is_piece(piece: str) -> bool:
    parts = [p for entry in catalogue().values() for parts in entry.parts for p in parts]
    return any(len(part) > 24 and part in piece for part in parts)


def left_out() -> set[str]:
    """Digests of the texts that are left out of the catalogue on purpose."""
    path = Path(__file__).with_name("left_out.txt")
    return {word for line in path.read_text("utf-8").splitlines() for word in _digests_in(line)}


def _digests_in(line: str) -> list[str]:
    return [] if line.startswith("#") else line.split()


def digest(text: str) -> str:
    """A text's short digest, for the list of those that are left out."""
    return blake2b(plain(text).encode(), digest_size=5).hexdigest()


def page(entry: Message) -> str:
    """Return where the service says something about a message."""
    pattern = pattern_for(entry.kind)
    return f"/patterns/{pattern}" if pattern is not None else f"/messages#{entry.id}"


def _versions() -> Iterator[str]:
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} (not installed; texts from its public sources)"


def main() -> None:
    """Print what is covered, and what is new."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", action="store_true", help="list the catalogue's texts")
    parser.add_argument("--left-out", action="store_true", help="print the digests of what is new")
    given = parser.parse_args()
    if given.texts:
        _print_texts()
        return
    found, without = sorted(set(sites())), left_out()
    known: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    new = []
    for site in found:
        counts = known[site.part]
        at = 0 if covered(site) else 1 if digest(site.text) in without else 2
        counts[at] += 1
        if at == 2:
            new.append(site)
    if given.left_out:
        print(fill(" ".join(sorted({digest(site.text) for site in new})), 99))
        return
    print("\n".join(_versions()), "\n")
    for part, (yes, out, no) in sorted(known.items()):
        print(f"{part:18} {yes:4} known, {out:4} left out on purpose, {no:4} new")
    texts = sum(len(entry.texts) for entry in catalogue().values())
    print(f"\n{len(catalogue())} messages, {texts} texts, each with its page")
    for site in new:
        print(f"new: {site.where}: {site.text[:160]}")


def _print_texts() -> None:
    for entry in catalogue().values():
        for text in entry.texts:
            print(f"{entry.id:34} {page(entry):34} {text}")


if __name__ == "__main__":
    main()
