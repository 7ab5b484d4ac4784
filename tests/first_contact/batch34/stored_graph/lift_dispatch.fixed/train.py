import argparse

import torch

from agent import ActorCritic
from building import Building

parser = argparse.ArgumentParser(description="actor-critic for a lift")
parser.add_argument("--episodes", type=int, default=8)
parser.add_argument("--seed", type=int, default=543)
args = parser.parse_args()

torch.manual_seed(args.seed)
env = Building(args.seed)


def main():
    agent = ActorCritic(n_obs=2 * env.floors)
    running = None
    for episode in range(args.episodes):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.select_action(obs)
            obs, reward, done = env.step(action)
            agent.memory.rewards.append(reward)
            total += reward
        loss = agent.finish_episode()
        running = total if running is None else 0.9 * running + 0.1 * total
        print(f"episode {episode}  return {total:.2f}  running {running:.2f}  loss {loss:.3f}")


if __name__ == "__main__":
    main()
