# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state
import torch
import torch.nn as nn
import torch.nn.functional as F


class MemoryController(nn.Module):
    """A small differentiable memory: everything that persists lives in one dict."""

    def __init__(self, d=8, slots=6):
        super().__init__()
        self.key = nn.Linear(d, d)
        self.erase = nn.Linear(d, d)
        self.out = nn.Linear(2 * d, d)
        self.slots, self.d = slots, d

    def fresh(self, batch):
        return {
            "memory": torch.full((batch, self.slots, self.d), 0.1),
            "read": torch.zeros(batch, self.d),
        }

    def forward(self, x, state):
        k = self.key(x + state["read"])
        w = F.softmax(torch.einsum("bsd,bd->bs", state["memory"], k), dim=-1)
        keep = 1 - w.unsqueeze(-1) * torch.sigmoid(self.erase(x)).unsqueeze(1)
        memory = state["memory"] * keep + w.unsqueeze(-1) * x.unsqueeze(1)
        read = torch.einsum("bsd,bs->bd", memory, w)
        return self.out(torch.cat([x, read], -1)), {"memory": memory, "read": read}


def copy_task(batch, length, d):
    seq = (torch.rand(length, batch, d) > 0.5).float()
    return seq, seq.roll(1, 0)


def main(iters=4, batch=4):
    torch.manual_seed(42)
    ctrl = MemoryController()
    opt = torch.optim.Adam(ctrl.parameters(), lr=3e-3)
    state = ctrl.fresh(batch)
    for it in range(iters):
        seq, target = copy_task(batch, 7, 8)
        loss = torch.zeros(())
        for x, y in zip(seq, target):
            logits, state = ctrl(x, state)  # expect: place
            loss = loss + F.binary_cross_entropy_with_logits(logits, y)
        opt.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(ctrl.parameters(), 1.0)
        opt.step()
        print(it, round(loss.item(), 4))


main()
