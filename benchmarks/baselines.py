"""What people try before they ask: the advice in PyTorch's own message, applied everywhere."""

from __future__ import annotations

import ast
import json


def retain_everywhere(path: str, source: str) -> str:
    """A script or notebook with `retain_graph=True` in every call of `backward`.

    The text is rewritten from its syntax tree: comments are lost, lines move.
    """
    if not path.endswith(".ipynb"):
        return _retain(source)
    document = json.loads(source)
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = [_retain("".join(cell["source"]))]
    return json.dumps(document)


def _retain(source: str) -> str:
    tree = ast.parse(source)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _walks_a_graph(call.func):
            kept = [keyword for keyword in call.keywords if keyword.arg != "retain_graph"]
            call.keywords = [*kept, ast.keyword("retain_graph", ast.Constant(True))]
    return ast.unparse(ast.fix_missing_locations(tree))


def _walks_a_graph(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "backward"
