"""The derivative of what an operation of a hand-written engine computes, as source code."""

from __future__ import annotations

import ast
import math

import pytest

from analyzers.repair.engine.derivatives import derivative, of_matrix_product


def of(expression: str, variable: str = "x.data", **names: str) -> str | None:
    """The derivative as source; `names` are what the function binds."""

    def meant(part: ast.expr) -> tuple[ast.expr, ast.expr]:
        for name, value in names.items():
            if ast.unparse(part) in (name, value):
                return parsed(value), ast.Name(name)
        return part, part

    found = derivative(parsed(expression), variable, meant)
    return ast.unparse(found) if found is not None else None


def parsed(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


@pytest.mark.parametrize(
    "expression",
    [
        "x.data + y.data",
        "y.data - x.data",
        "x.data * y.data",
        "x.data * x.data",
        "x.data / y.data",
        "y.data / x.data",
        "x.data ** 3",
        "(2 * x.data - y.data) ** y.data",
        "-math.exp(x.data * y.data)",
        "math.log(x.data + y.data)",
        "math.tanh(x.data) * y.data",
        "math.sqrt(x.data)",
        "math.sin(x.data) - math.cos(x.data)",
        "1 / (1 + math.exp(-x.data * y.data))",
        "max(0, x.data * y.data)",
        "max(x.data - 2, 0.0)",
        "x.data ** 2 if x.data > 1 else 0.1 * x.data",
    ],
)
def test_the_derivative_is_the_slope(expression: str) -> None:
    slope = of(expression)
    assert slope is not None

    def at(x: float, text: str = expression) -> float:
        values = {"x": type("X", (), {"data": x}), "y": type("Y", (), {"data": 0.7}), "math": math}
        return float(eval(text, values))

    assert at(1.3, slope) == pytest.approx((at(1.3 + 1e-6) - at(1.3 - 1e-6)) / 2e-6, rel=1e-6)


def test_it_is_written_with_the_names_at_hand() -> None:
    assert of("t", t="math.tanh(x.data)") == "1 - t ** 2"
    assert of("e", e="np.exp(x.data)") == "e"
    assert of("x.data ** k") == "k * x.data ** (k - 1)"
    assert of("x.data * y.data") == "y.data"
    assert of("s", s="1 / (1 + np.exp(-x.data))") == "s * (1 - s)"
    assert of("np.maximum(0, x.data)") == "x.data > 0"
    assert of("(x.data ** 2).mean()") == "2 * x.data / x.data.size"
    assert of("np.sum(x.data)") == "1"


@pytest.mark.parametrize("form", ["{} @ {}", "{}.dot({})", "np.matmul({}, {})"])
def test_factors_of_a_matrix_product_get_it_with_the_other_transposed(form: str) -> None:
    product = parsed(form.format("x.data", "w.data"))
    of_x, of_w = form.format("g", "w.data.T"), form.format("x.data.T", "g")
    assert of_matrix_product(product, "x.data", "g") == of_x
    assert of_matrix_product(product, "w.data", "g") == of_w
    assert of_matrix_product(product, "b.data", "g") is None


def test_what_does_not_depend_on_it_has_none() -> None:
    assert of("y.data + 1") == "0"


@pytest.mark.parametrize("expression", ["max(1, x.data)", "lookup(x.data)", "y.data ** x.data"])
def test_what_is_not_known_is_not_guessed(expression: str) -> None:
    assert of(expression) is None
