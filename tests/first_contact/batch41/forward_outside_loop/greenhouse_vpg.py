# expect: pattern = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss_v
"""Vanilla policy gradient with a value baseline: heater and vent of a small greenhouse."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions.categorical import Categorical


def mlp(sizes, activation=nn.Tanh, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


def discount_cumsum(x, discount):
    out, run = np.zeros(len(x), dtype=np.float32), 0.0
    for i in reversed(range(len(x))):
        run = x[i] + discount * run
        out[i] = run
    return out


class Greenhouse:
    """actions: nothing, heat, vent"""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.t, self.temp = 0, self.rng.uniform(10, 30)
        return self.obs()

    def obs(self):
        return np.array([(self.temp - 20) / 10, np.sin(self.t / 4)], dtype=np.float32)

    def step(self, a):
        outside = 15 + 8 * np.sin(self.t / 4)
        self.temp += 0.1 * (outside - self.temp) + (0.0, 1.5, -1.5)[a]
        self.t += 1
        return self.obs(), -abs(self.temp - 21) / 10 - 0.02 * (a == 1), self.t >= 20


class VPGBuffer:
    def __init__(self, gamma=0.97, lam=0.95):
        self.obs, self.act, self.rew, self.val = [], [], [], []
        self.adv, self.ret = [], []
        self.start, self.gamma, self.lam = 0, gamma, lam

    def store(self, obs, act, rew, val):
        self.obs.append(obs), self.act.append(act), self.rew.append(rew), self.val.append(val)

    def finish_path(self):
        rews = np.append(self.rew[self.start:], 0.0)
        vals = np.append(self.val[self.start:], 0.0)
        deltas = rews[:-1] + self.gamma * vals[1:] - vals[:-1]
        self.adv.extend(discount_cumsum(deltas, self.gamma * self.lam))
        self.ret.extend(discount_cumsum(rews, self.gamma)[:-1])
        self.start = len(self.rew)

    def get(self):
        adv = np.array(self.adv)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        data = dict(obs=np.array(self.obs), act=np.array(self.act), adv=adv, ret=np.array(self.ret))
        return {k: torch.as_tensor(v) for k, v in data.items()}


def vpg(env, epochs=4, episodes=5, pi_lr=3e-3, vf_lr=1e-2, train_v_iters=10, seed=0):
    torch.manual_seed(seed)
    pi, v = mlp([2, 24, 3]), mlp([2, 24, 1])
    pi_optimizer = torch.optim.Adam(pi.parameters(), lr=pi_lr)
    vf_optimizer = torch.optim.Adam(v.parameters(), lr=vf_lr)

    def compute_loss_pi(data):
        logp = Categorical(logits=pi(data["obs"])).log_prob(data["act"])
        return -(logp * data["adv"]).mean()

    def compute_loss_v(data):
        return ((v(data["obs"]).squeeze(-1) - data["ret"]) ** 2).mean()

    def update(buf):
        data = buf.get()
        loss_pi = compute_loss_pi(data)
        loss_v = compute_loss_v(data)  # expect: place
        pi_l_old, v_l_old = loss_pi.item(), loss_v.item()

        pi_optimizer.zero_grad()
        loss_pi.backward()
        pi_optimizer.step()

        for i in range(train_v_iters):
            vf_optimizer.zero_grad()
            loss_v.backward()  # expect: place
            vf_optimizer.step()
        return pi_l_old, v_l_old

    for epoch in range(epochs):
        buf, returns = VPGBuffer(), []
        for _ in range(episodes):
            o, done, ret = env.reset(), False, 0
            while not done:
                with torch.no_grad():
                    x = torch.as_tensor(o)
                    a, val = Categorical(logits=pi(x)).sample().item(), v(x).item()
                next_o, r, done = env.step(a)
                buf.store(o, a, r, val)
                o, ret = next_o, ret + r
            buf.finish_path()
            returns.append(ret)
        loss_pi, loss_v = update(buf)
        print("epoch %d  return %.3f  LossPi %.4f  LossV %.4f" % (epoch, np.mean(returns), loss_pi, loss_v))


if __name__ == "__main__":
    vpg(Greenhouse(np.random.default_rng(0)))
