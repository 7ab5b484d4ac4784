"""A patch of a custom Function is compared with numerical derivatives, by torch's gradcheck."""

from __future__ import annotations

import pytest

from app.present import fix_wording
from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.case_files import load_case
from tests.tracing import HEAD, Tracing

GATE = load_case("function_gradients/of_the_transposed_gate").stripped
PRODUCT = """\
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, scale):
        ctx.save_for_backward(x, weight)
        ctx.scale = scale
        return x @ weight * scale

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return {returned}


weight = torch.randn(4, 4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    x = torch.randn(2, 4, requires_grad=True)
    optimizer.zero_grad()
    Product.apply(x, weight, 2.0).pow(2).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("returned", "outcome", "argument"),
    [
        ("grad @ weight.t() * ctx.scale, x.t() @ grad * ctx.scale, None", "same", ""),
        ("grad @ weight * ctx.scale, x.t() @ grad * ctx.scale, None", "differs", "x"),
        ("grad @ weight.t() * ctx.scale, x.t() @ grad, None", "differs", "weight"),
        ("grad @ weight.t().float() * ctx.scale, x.t() @ grad * ctx.scale, None", "unknown", ""),
    ],
)
def test_gradients_are_compared_argument_by_argument(
    traced: Tracing, returned: str, outcome: str, argument: str
) -> None:
    plain = traced(HEAD + PRODUCT.format(returned=returned)).trace
    trace = traced(HEAD + PRODUCT.format(returned=returned), gradcheck=True).trace
    [compared] = trace.gradchecks
    assert (compared.function, compared.outcome, compared.input) == ("Product", outcome, argument)
    first = HEAD.count("\n") + 1
    assert first < compared.at.line < compared.end_line <= first + PRODUCT.count("\n")
    assert plain.gradchecks == []
    assert trace.backwards == plain.backwards, "what gradcheck runs is no part of the script"


def test_a_function_inside_of_a_transform_is_left_alone(traced: Tracing) -> None:
    transformed = HEAD + (
        "class Doubled(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(x):\n        return 2 * x\n\n"
        "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        pass\n\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return 2 * grad\n\n\n"
        "slope = torch.func.grad(lambda x: Doubled.apply(x).sum())(torch.ones(3))\n"
        "assert slope.tolist() == [2.0, 2.0, 2.0]\n"
    )
    left = traced(transformed, gradcheck=True)
    assert left.code == 0, left.stderr
    assert left.trace.gradchecks == []


@pytest.mark.asyncio(loop_scope="session")
async def test_the_patch_whose_gradients_are_the_derivative_comes_first(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=GATE), RUNNING)
    right, wrong = found.patches[:2]
    assert (right.strategy, right.level) == ("transposed", "safe")
    assert (wrong.strategy, wrong.level) == ("in-order", "unsafe")
    checks = [
        next(check for check in patch.verification.checks if check.name == "gradcheck")
        for patch in (right, wrong)
    ]
    assert [check.status for check in checks] == ["passed", "differs"]
    assert "`Gate` for `x`" in checks[1].detail
    assert [fix_wording.tab(patch) for patch in (right, wrong)] == ["✓ gradcheck", "≠ gradcheck"]


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("returned", "status"),
    [
        ("grad @ weight.t() * ctx.scale, x.t() @ grad * ctx.scale, None", "passed"),
        ("grad @ weight * ctx.scale, x.t() @ grad * ctx.scale, None", "differs"),
    ],
)
async def test_a_script_that_runs_says_how_its_functions_compare(
    service: Service, returned: str, status: str
) -> None:
    script = HEAD + PRODUCT.format(returned=returned)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert found.verdict == "healthy"
    assert found.run is not None
    assert found.run.checks[-1].name == "gradcheck"
    assert found.run.checks[-1].status == status
    assert found.answer is None
    said = "returns for `x` is not the derivative of its forward"
    assert (said in found.summary) == (status == "differs")
