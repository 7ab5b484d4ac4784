# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = hx, self.hx, state
"""Recurrent advantage actor-critic for a lift: rollouts of 6 steps, the memory goes on over their borders."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

FLOORS, ROLLOUT, GAMMA = 5, 6, 0.95


class Lift:
    def __init__(self, seed):
        self.rng = torch.Generator().manual_seed(seed)
        self.at, self.call, self.age = 0, 2, 0

    def observe(self):
        o = torch.zeros(1, 2 * FLOORS)
        o[0, self.at] = 1
        if self.age < 2:  # the button lights up for two ticks only
            o[0, FLOORS + self.call] = 1
        return o

    def tick(self, action):
        self.at = min(max(self.at + action - 1, 0), FLOORS - 1)
        self.age += 1
        done = self.at == self.call
        if done:
            self.call = int(torch.randint(FLOORS, (1,), generator=self.rng))
            self.age = 0
        return (1.0 if done else -0.1), done


class Controller(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.memory = nn.GRUCell(2 * FLOORS, width)
        self.policy = nn.Linear(width, 3)
        self.value = nn.Linear(width, 1)

    def forward(self, o, hx):
        hx = self.memory(o, hx)
        return Categorical(logits=self.policy(hx)), self.value(hx).squeeze(), hx


class Worker:
    def __init__(self, env, agent, opt):
        self.env, self.agent, self.opt = env, agent, opt
        self.hx = torch.zeros(1, 16)

    def collect(self):
        logps, values, rewards, ents = [], [], [], []
        for _ in range(ROLLOUT):
            dist, v, self.hx = self.agent(self.env.observe(), self.hx)  # expect: place
            a = dist.sample()
            r, done = self.env.tick(int(a))
            if done:
                self.hx = torch.zeros_like(self.hx)
            logps.append(dist.log_prob(a).squeeze())
            values.append(v)
            rewards.append(r)
            ents.append(dist.entropy().mean())
        with torch.no_grad():
            _, last, _ = self.agent(self.env.observe(), self.hx)
        return logps, values, rewards, ents, last

    def learn(self):
        logps, values, rewards, ents, ret = self.collect()
        loss = 0
        for lp, v, r, e in zip(*(reversed(x) for x in (logps, values, rewards, ents))):
            ret = r + GAMMA * ret
            adv = ret - v
            loss = loss - lp * adv.detach() + 0.5 * adv.pow(2) - 0.01 * e
        self.opt.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.agent.parameters(), 1.0)
        self.opt.step()
        return sum(rewards)


def main():
    torch.manual_seed(6)
    agent = Controller()
    worker = Worker(Lift(4), agent, torch.optim.Adam(agent.parameters(), lr=5e-3))
    got = [worker.learn() for _ in range(10)]
    print("mean reward", sum(got) / len(got))


main()
