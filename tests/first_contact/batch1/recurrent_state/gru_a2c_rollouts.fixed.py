"""Recurrent A2C, five parallel environments; the memory lives on between rollouts."""
from typing import NamedTuple

import torch
import torch.nn as nn
from torch.distributions import Categorical

N_ENVS, N_STEPS, GAMMA = 5, 6, 0.9


class AgentState(NamedTuple):
    policy: torch.Tensor
    value: torch.Tensor


class Recall:
    """Show a cue, ask for it two steps later."""

    def __init__(self, gen):
        self.gen = gen
        self.cues = torch.zeros(3, N_ENVS, dtype=torch.long)

    def observe(self):
        self.cues = torch.roll(self.cues, 1, dims=0)
        self.cues[0] = torch.randint(0, 3, (N_ENVS,), generator=self.gen)
        return nn.functional.one_hot(self.cues[0], 3).float()

    def reward(self, actions):
        return (actions == self.cues[2]).float()

    def dones(self):
        return (torch.rand(N_ENVS, 1, generator=self.gen) < 0.1).float()


class RecurrentAgent(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.n = n
        self.policy_rnn, self.value_rnn = nn.GRUCell(3, n), nn.GRUCell(3, n)
        self.policy_head, self.value_head = nn.Linear(n, 3), nn.Linear(n, 1)

    def initial_state(self):
        return AgentState(torch.zeros(N_ENVS, self.n), torch.zeros(N_ENVS, self.n))

    def forward(self, obs, state):
        state = AgentState(self.policy_rnn(obs, state.policy), self.value_rnn(obs, state.value))
        return Categorical(logits=self.policy_head(state.policy)), self.value_head(state.value).squeeze(-1), state


def rollout(env, agent, state):
    logps, values, rewards, ents = [], [], [], []
    for _ in range(N_STEPS):
        dist, value, state = agent(env.observe(), state)
        action = dist.sample()
        logps.append(dist.log_prob(action))
        values.append(value)
        ents.append(dist.entropy())
        rewards.append(env.reward(action))
        alive = 1.0 - env.dones()
        state = AgentState(*(s * alive for s in state))
    return torch.stack(logps), torch.stack(values), torch.stack(rewards), torch.stack(ents), state


def n_step_returns(rewards, bootstrap):
    out, R = [], bootstrap
    for r in rewards.flip(0):
        R = r + GAMMA * R
        out.append(R)
    return torch.stack(out[::-1])


def main():
    torch.manual_seed(8)
    env, agent = Recall(torch.Generator().manual_seed(8)), RecurrentAgent()
    optimizer = torch.optim.RMSprop(agent.parameters(), lr=3e-3)
    state = agent.initial_state()
    for update in range(8):
        logps, values, rewards, ents, state = rollout(env, agent, state)
        state = AgentState(*(s.detach() for s in state))
        adv = n_step_returns(rewards, values[-1].detach()) - values
        loss = -(logps * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * ents.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
        print("update %d reward %.3f loss %.4f" % (update, rewards.mean().item(), loss.item()))


if __name__ == "__main__":
    main()
