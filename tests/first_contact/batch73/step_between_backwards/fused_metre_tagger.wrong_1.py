"""Verse model with a stress head.  Each parameter is updated as soon as its gradient is there and the
gradient is freed at once, so that the peak memory stays low."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(18)
SYLLABLES, HIDDEN = 30, 24


class VerseModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(SYLLABLES, HIDDEN)
        self.conv = nn.Conv1d(HIDDEN, HIDDEN, 3)
        self.mix = nn.Linear(HIDDEN, HIDDEN)
        self.lm_head = nn.Linear(HIDDEN, SYLLABLES)
        self.stress_head = nn.Linear(HIDDEN, 2)

    def forward(self, ids):
        x = F.pad(self.embed(ids).transpose(1, 2), (2, 0))
        h = torch.tanh(self.conv(x)).transpose(1, 2)
        h = h + torch.tanh(self.mix(h))
        return self.lm_head(h), self.stress_head(h)


def fuse_optimizer(model, lr):
    """One small optimizer for each parameter, run by the parameter's own hook."""
    optimizers = {p: torch.optim.SGD([p], lr=lr, momentum=0.9) for p in model.parameters()}

    def step_and_free(param):
        optimizers[param].step()
        optimizers[param].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(step_and_free)
    return optimizers


def read_lines(n, length):
    ids = torch.randint(0, SYLLABLES, (n, length + 1))
    ids[:, 1::2] = (ids[:, 0:-1:2] * 7 + 3) % SYLLABLES
    stress = (ids[:, :-1] % 3 == 0).long()
    return ids[:, :-1], ids[:, 1:], stress


model = VerseModel()
fuse_optimizer(model, lr=0.05)

for step in range(8):
    ids, following, stress = read_lines(16, 10)
    lm_logits, stress_logits = model(ids)
    loss_lm = F.cross_entropy(lm_logits.flatten(0, 1), following.flatten())
    loss_stress = F.cross_entropy(stress_logits.flatten(0, 1), stress.flatten())
    loss_lm.backward(retain_graph=True)
    _, stress_logits = model(ids)
    loss_stress = F.cross_entropy(stress_logits.flatten(0, 1), stress.flatten())
    (0.3 * loss_stress).backward()
    print(f"step {step} lm {loss_lm.item():.3f} stress {loss_stress.item():.3f}")
