# expect: pattern = none
# expect: raises = nothing
"""Berthing a ferry in gusts: recurrent Q-learning, replay with stored states and burn-in."""
import copy
import random
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F

ACTIONS, OBS, HID = 3, 3, 16


@dataclass
class Fragment:
    state: torch.Tensor      # recurrent state at the first observation, (1, HID)
    obs: torch.Tensor
    act: torch.Tensor
    rew: torch.Tensor
    priority: float = 1.0


class Berth:
    """Slide along a quay against wind that must be inferred from drift."""

    def reset(self):
        self.pos, self.vel, self.wind = random.uniform(-1, 1), 0.0, random.uniform(-0.03, 0.03)
        return self.see()

    def see(self):
        return torch.tensor([self.pos, self.vel, 1.0]) + 0.02 * torch.randn(OBS)

    def step(self, a):
        self.vel = 0.9 * self.vel + 0.15 * (a - 1) + self.wind
        self.pos += 0.3 * self.vel
        return self.see(), -min(abs(self.pos), 1.0) - 0.05 * abs(a - 1)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(OBS, HID)
        self.value, self.adv = nn.Linear(HID, 1), nn.Linear(HID, ACTIONS)

    def forward(self, obs, h):
        h = self.cell(obs, h)
        a = self.adv(h)
        return self.value(h) + a - a.mean(1, keepdim=True), h

    def unroll(self, obs, h):
        qs = []
        for o in obs.unbind(1):
            q, h = self(o, h)
            qs.append(q)
        return torch.stack(qs, dim=1)


@torch.no_grad()
def collect(net, env, memory, eps, length=12, fragments=2):
    obs, h = env.reset(), torch.zeros(1, HID)
    for _ in range(fragments):
        start, rows = h, []
        for _ in range(length):
            q, h = net(obs[None], h)
            a = random.randrange(ACTIONS) if random.random() < eps else int(q.argmax())
            nxt, r = env.step(a)
            rows.append((obs, a, r))
            obs = nxt
        o, a, r = zip(*rows)
        memory.append(Fragment(start, torch.stack(o), torch.tensor(a), torch.tensor(r)))


def learn(net, target, memory, opt, batch=16, burn=3, gamma=0.9):
    frags = random.choices(memory, weights=[f.priority for f in memory], k=batch)
    h = torch.cat([f.state for f in frags])
    obs, act, rew = (torch.stack([getattr(f, k) for f in frags]) for k in ("obs", "act", "rew"))
    with torch.no_grad():
        for o in obs[:, :burn].unbind(1):
            _, h = net(o, h)
        ahead = target.unroll(obs[:, burn:], h)
    q = net.unroll(obs[:, burn:], h)
    best = q.detach()[:, 1:].argmax(2, keepdim=True)
    goal = rew[:, burn:-1] + gamma * ahead[:, 1:].gather(2, best).squeeze(2)
    td = q[:, :-1].gather(2, act[:, burn:-1, None]).squeeze(2) - goal
    loss = F.smooth_l1_loss(td, torch.zeros_like(td))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
    for f, p in zip(frags, td.detach().abs().mean(1).tolist()):
        f.priority = p + 0.01
    for t, s in zip(target.parameters(), net.parameters()):
        t.data.lerp_(s.data, 0.05)
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    random.seed(0)
    net, env, memory = QNet(), Berth(), deque(maxlen=200)
    target = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for ep in range(60):
        collect(net, env, memory, eps=max(0.1, 1 - ep / 30))
        if len(memory) >= 16:
            loss = learn(net, target, memory, opt)
            if ep % 10 == 0:
                print(f"episode {ep}: td loss {loss:.4f}  reward {sum(f.rew.mean().item() for f in list(memory)[-16:]) / 16:.3f}")
    print("buffer", len(memory), "last loss %.4f" % loss)
