"""Policy and auxiliary loss share an encoder, and each gradient is clipped by itself."""
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 20), nn.ELU(), nn.Linear(20, 10), nn.ELU())
        self.label = nn.Linear(10, 3)
        self.recon = nn.Linear(10, 5)

    def forward(self, x):
        z = self.encoder(x)
        return self.label(z), self.recon(z)


def clipped(model, loss, limit, keep):
    model.zero_grad()
    loss.backward(retain_graph=keep)
    clip_grad_norm_(model.parameters(), limit)
    return [None if p.grad is None else p.grad.clone() for p in model.parameters()]


torch.manual_seed(10)
agent = Agent()
opt = torch.optim.Adam(agent.parameters(), lr=0.01)
for step in range(40):
    x = torch.randn(32, 5)
    y = x[:, :3].argmax(1)
    logits, recon = agent(x)
    main_loss = nn.functional.cross_entropy(logits, y)
    aux_loss = (recon - x).pow(2).mean()
    a = clipped(agent, main_loss, 1.0, keep=True)     # the encoder is walked once more below
    b = clipped(agent, aux_loss, 0.1, keep=False)
    for p, ga, gb in zip(agent.parameters(), a, b):
        parts = [g for g in (ga, gb) if g is not None]
        p.grad = sum(parts)
    opt.step()
    if step in (0, 39):
        print("step %d main %.3f aux %.3f" % (step, main_loss.item(), aux_loss.item()))
