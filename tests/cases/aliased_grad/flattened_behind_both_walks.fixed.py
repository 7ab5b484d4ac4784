"""Two tasks of one ear: the angle between their gradients says which weight the second one gets."""
import torch
import torch.nn.functional as F
from torch import nn


def flat(grads):
    return torch.cat([g.flatten() for g in grads])


def gradients(loss, params):
    for p in params:
        if p.grad is not None:
            p.grad.zero_()
    loss.backward(retain_graph=True)
    return [p.grad.clone() for p in params]


torch.manual_seed(4)
ear = nn.Sequential(nn.Linear(10, 12), nn.Tanh())
tone, beat = nn.Linear(12, 4), nn.Linear(12, 1)
shared = list(ear.parameters())
opt = torch.optim.SGD([*shared, *tone.parameters(), *beat.parameters()], lr=0.1)

for step in range(12):
    sound, pitch, pulse = torch.randn(16, 10), torch.randint(0, 4, (16,)), torch.randn(16, 1)
    heard = ear(sound)
    first, second = F.cross_entropy(tone(heard), pitch), F.mse_loss(beat(heard), pulse)
    of_tone = gradients(first, shared)
    of_beat = gradients(second, shared)
    a, b = flat(of_tone), flat(of_beat)
    weight = 0.5 * (1 + F.cosine_similarity(a, b, dim=0))
    opt.zero_grad()
    (first + weight * second).backward()
    opt.step()
