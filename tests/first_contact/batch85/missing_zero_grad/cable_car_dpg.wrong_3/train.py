"""Deterministic policy gradients for the winch of a cable car."""
import random

import torch

from agent import DDPG
from cabin import Cabin


def evaluate(agent, cabin, episodes=3):
    total = 0.0
    for _ in range(episodes):
        state, done = cabin.reset(), False
        while not done:
            state, reward, done = cabin.step(agent.act(state))
            total += reward.item()
    return total / episodes


def main(episodes=8, seed=12):
    random.seed(seed)
    torch.manual_seed(seed)
    cabin, agent = Cabin(), DDPG(n_state=4)
    for episode in range(episodes):
        state, done, losses = cabin.reset(), False, []
        noise = max(0.1, 0.5 * 0.8**episode)
        while not done:
            action = agent.act(state, noise)
            after, reward, done = cabin.step(action)
            agent.push(state, action, reward, after, done)
            state = after
            result = agent.update()
            if result is not None:
                losses.append(result)
        if losses:
            q_loss, pi_loss = (sum(column) / len(losses) for column in zip(*losses))
            print(f"episode {episode}: critic {q_loss:.3f} actor {pi_loss:.3f} return {evaluate(agent, cabin):.2f}")


if __name__ == "__main__":
    main()
