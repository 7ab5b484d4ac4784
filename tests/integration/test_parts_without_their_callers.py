"""Parts of programs that call no backward, or whose metric counts chosen classes: completed, they
come to the error that their words name."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_GRAPH = (
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn\n\n"
)
IN_PLACE = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [torch.FloatTensor [8, 32]], which is output 0 of ReluBackward0\n\n"
)
AGAIN = "RuntimeError: Trying to backward through the graph a second time\n\n"
BODY_WITHOUT_ITS_HEAD = """\
h = self.relu(self.conv1(x))
skip = h
h = self.conv2(h)
skip += h
return skip
"""
COUNTED_BY_BINS = """\
def iou_loss(target, pred, n):
    hist = torch.bincount(n * target.view(-1) + pred.view(-1), minlength=n ** 2)
    hist = hist.reshape(n, n).float()
    union = hist.sum(0) + hist.sum(1) - torch.diag(hist)
    return 1 - (torch.diag(hist) / (union + 1e-6)).mean()

for images, masks in loader:
    pred = unet(images).argmax(1)
    loss = iou_loss(masks, pred, num_classes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
RANKS_ASSERTED = """\
def f1_loss(y_true, y_pred):
    assert y_true.ndim == 1
    if y_pred.ndim == 2:
        y_pred = y_pred.argmax(dim=1)
    tp = (y_true * y_pred).sum().float()
    rest = (y_true * (1 - y_pred)).sum().float() + ((1 - y_true) * y_pred).sum().float()
    return 1 - tp / (tp + rest / 2 + 1e-7)

out = model(batch_x)
loss = f1_loss(batch_y, out)
loss.backward()
"""
LOSS_THAT_NOTHING_CALLS = """\
class PrecisionLoss(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes

    def forward(self, logits, labels):
        picked = torch.topk(logits, 1, dim=1)[1].squeeze(1)
        matrix = torch.zeros(self.classes, self.classes)
        for p, l in zip(picked, labels):
            matrix[l, p] += 1
        return 1 - torch.diagonal(matrix).sum() / matrix.sum()
"""
METRIC_THAT_WAS_NOT_SENT = """\
for data, target in loader:
    output = classifier(data)
    _, predicted = torch.max(output, 1)
    accuracy = metric(predicted, target)
    loss = 1.0 - accuracy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
RIVALS = """\
optim_g.zero_grad()
loss_g.backward()
optim_g.step()

optim_d.zero_grad()
loss_d.backward()
optim_d.step()
"""
JUDGED_BEFORE_THE_STEP = """\
for photos, _ in loader:
    photos = photos.to(device)
    drawn = generator(torch.randn(photos.size(0), width).to(device))
    d_loss = bce(discriminator(photos), valid) + bce(discriminator(drawn), fake)
    g_loss = bce(discriminator(drawn), valid)
    optimizer_D.zero_grad()
    d_loss.backward(retain_graph=True)
    optimizer_D.step()
    optimizer_G.zero_grad()
    g_loss.backward()
    optimizer_G.step()
"""
SETTINGS_UNPACKED = """\
decoder = Decoder(**decoder_settings)
out = decoder(codes)
out.mean().backward()
"""


async def asked(service: Service, text: str) -> Findings:
    return await service.ask(DiagnosisRequest(script=text), RUNNING)


@pytest.mark.parametrize(
    ("text", "pattern", "code"),
    [
        pytest.param(
            IN_PLACE + BODY_WITHOUT_ITS_HEAD, "inplace-activation", "skip += h", id="body"
        ),
        pytest.param(NO_GRAPH + COUNTED_BY_BINS, "detached-loss", ".argmax(1)", id="bins"),
        pytest.param(NO_GRAPH + RANKS_ASSERTED, "detached-loss", ".argmax(dim=1)", id="ranks"),
        pytest.param(NO_GRAPH + LOSS_THAT_NOTHING_CALLS, "detached-loss", "torch.topk", id="class"),
        pytest.param(
            NO_GRAPH + METRIC_THAT_WAS_NOT_SENT, "detached-loss", "torch.max", id="metric"
        ),
    ],
)
async def test_a_part_comes_to_the_line_that_its_error_is_about(
    service: Service, text: str, pattern: str, code: str
) -> None:
    found = await asked(service, text)
    assert found.basis == "completed"
    assert found.causes[0].pattern == pattern
    assert code in found.causes[0].location.code


async def test_each_of_several_optimizers_has_a_model_of_its_own(service: Service) -> None:
    found = await asked(service, AGAIN + RIVALS)
    said = {assumed.name: assumed.text for assumed in found.world}
    assert "over `model_g`" in said["optim_g"]
    assert "over `model_d`" in said["optim_d"]


async def test_losses_of_rivals_are_not_added(service: Service) -> None:
    found = await asked(service, AGAIN + RIVALS)
    assert found.causes[0].pattern == "shared-subgraph"
    assert "made by a forward pass that was not sent" in found.causes[0].explanation
    assert found.patches[0].level == "safe"
    kept = 'loss_g.backward(inputs=optim_g.param_groups[0]["params"], retain_graph=True)'
    assert kept in found.patches[0].script
    sums = [patch for patch in found.patches if patch.strategy == "sum-losses"]
    assert [patch.verification.status for patch in sums] == ["failed"]


async def test_each_backward_of_rivals_fills_its_own_optimizer(service: Service) -> None:
    words = "\nAfter I changed the order, I get an error: some inplace operation.\n"
    first, second = RIVALS.split("\n\n")
    found = await asked(service, f"{second}\n{first}\n{words}")
    assert found.causes[0].pattern == "step-between-backwards"
    assert found.patches[0].level == "safe"
    assert 'loss_g.backward(inputs=optim_g.param_groups[0]["params"])' in found.patches[0].script


async def test_a_generator_is_judged_again_after_the_step_of_its_discriminator(
    service: Service,
) -> None:
    found = await asked(service, IN_PLACE + JUDGED_BEFORE_THE_STEP)
    assert (found.causes[0].pattern, found.causes[0].location.code.strip()) == (
        "step-between-backwards",
        "optimizer_D.step()",
    )
    patch = found.patches[0]
    assert patch.level == "safe"
    _, _, after = patch.script.partition("optimizer_D.step()")
    assert "g_loss = bce(discriminator(drawn), valid)" in after


async def test_what_a_call_unpacks_is_a_mapping(service: Service) -> None:
    found = await asked(service, SETTINGS_UNPACKED)
    assert found.run is not None
    assert found.run.status == "ran_clean"


async def test_an_error_of_autograd_in_a_completed_part_is_not_said_to_be_a_gap(
    service: Service,
) -> None:
    found = await asked(service, "y = net(x)\ny[0] = 1\ny.pow(2).sum().backward(y)\n")
    assert found.run is not None
    assert found.run.status != "ran_clean"
    assert "could not be synthesized" not in found.summary


OF_A_MISSING_PACKAGE = """\
import torch
import torch.nn as nn
from unheard_of_models import Backbone

net = Backbone.from_pretrained("b0")
net._fc = nn.Linear(net._fc.in_features, 100)
optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
total = 0.0
for number in range(4):
    total = total + nn.functional.cross_entropy(net(torch.randn(8, 3)), torch.arange(8) + 60)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
"""


async def test_a_model_of_a_missing_package_has_the_layers_that_are_named(
    service: Service,
) -> None:
    found = await asked(service, OF_A_MISSING_PACKAGE)
    assert found.basis == "completed"
    assert found.causes[0].pattern == "accumulated-loss"
    assert found.patches[0].verification.status == "passed"
