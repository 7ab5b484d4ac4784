# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = logp, value, old_logp, returns, adv, advantage
"""PPO for a restaurant-booking dialogue policy against a scripted user."""
import random
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.distributions import Categorical

SLOTS = ["food", "area", "price", "people"]
ACTS = [f"request_{s}" for s in SLOTS] + ["confirm", "offer"]
MAX_TURNS = 8


class ScriptedUser:
    """Answers requests (sometimes the ASR loses it) and ends the call after an offer."""

    def __init__(self, rng):
        self.rng = rng

    def start(self):
        self.filled = [0.0] * len(SLOTS)
        self.confirmed = 0.0
        self.turn = 0
        return self.belief()

    def belief(self):
        return torch.tensor(self.filled + [self.confirmed, self.turn / MAX_TURNS])

    def reply(self, act):
        self.turn += 1
        reward, done = -0.1, self.turn >= MAX_TURNS
        name = ACTS[act]
        if name.startswith("request_") and self.rng.random() < 0.85:
            self.filled[act] = 1.0
        elif name == "confirm":
            self.confirmed = float(sum(self.filled) >= 3)
        elif name == "offer":
            reward = sum(self.filled) / len(SLOTS) + 0.5 * self.confirmed - 0.6
            done = True
        return self.belief(), reward, done


class DialogPolicy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(len(SLOTS) + 2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, len(ACTS))
        self.v = nn.Linear(hidden, 1)

    def forward(self, belief):
        h = self.body(belief)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


@dataclass
class Turn:
    belief: torch.Tensor
    act: torch.Tensor
    logp: torch.Tensor
    value: torch.Tensor
    reward: float
    done: bool


@dataclass
class Transcript:
    turns: list = field(default_factory=list)

    def column(self, name):
        return torch.stack([getattr(t, name) for t in self.turns])

    def returns(self, gamma=0.95):
        out, g = [], 0.0
        for t in reversed(self.turns):
            g = t.reward + gamma * g * (not t.done)
            out.append(g)
        return torch.tensor(out[::-1])


def talk(policy, user, n_dialogs):
    log = Transcript()
    for _ in range(n_dialogs):
        belief, done = user.start(), False
        while not done:
            dist, value = policy(belief)  # expect: place
            act = dist.sample()
            nxt, reward, done = user.reply(act.item())
            log.turns.append(Turn(belief, act, dist.log_prob(act), value, reward, done))  # expect: place
            belief = nxt
    return log


def ppo_update(policy, opt, log, epochs=4, clip=0.2):
    beliefs, acts = log.column("belief"), log.column("act")
    old_logp = log.column("logp")  # expect: place
    returns = log.returns()
    adv = returns - log.column("value")  # expect: place
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    for _ in range(epochs):
        dist, value = policy(beliefs)
        ratio = torch.exp(dist.log_prob(acts) - old_logp)  # expect: place
        surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)  # expect: place
        loss = -surrogate.mean() + 0.5 * (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
    return loss.item()


def main():
    torch.manual_seed(21)
    user = ScriptedUser(random.Random(21))
    policy = DialogPolicy()
    opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for it in range(4):
        log = talk(policy, user, n_dialogs=12)
        loss = ppo_update(policy, opt, log)
        score = sum(t.reward for t in log.turns) / 12
        print(f"iteration {it}: reward per dialogue {score:+.2f}, loss {loss:+.3f}")


if __name__ == "__main__":
    main()
