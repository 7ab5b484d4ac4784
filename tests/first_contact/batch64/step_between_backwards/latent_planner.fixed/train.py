import torch

from behaviour import Behaviour
from dynamics import LatentDynamics

OBS, ACT = 6, 2


def replay_batch(steps=8, batch=10):
    """Random walk of a point mass, reward for being near the origin."""
    pos = torch.randn(batch, 2)
    vel = torch.zeros(batch, 2)
    obs, acts, rews = [], [], []
    for _ in range(steps):
        a = torch.rand(batch, ACT) * 2 - 1
        vel = 0.9 * vel + 0.2 * a
        pos = pos + vel
        obs.append(torch.cat([pos, vel, pos ** 2], dim=-1))
        acts.append(a)
        rews.append(torch.exp(-pos.pow(2).sum(-1)))
    return torch.stack(obs), torch.stack(acts), torch.stack(rews)


def main(updates=5):
    torch.manual_seed(9)
    dynamics = LatentDynamics(OBS, ACT)
    behaviour = Behaviour(dynamics.latent, ACT)
    model_opt = torch.optim.Adam(dynamics.parameters(), lr=3e-3)
    for i in range(updates):
        obs, acts, rews = replay_batch()
        model_loss, states = dynamics.loss(obs, acts, rews)
        model_opt.zero_grad()
        model_loss.backward()
        model_opt.step()

        start = states.detach().flatten(0, 1)
        actor_loss, critic_loss = behaviour.update(dynamics, start)
        print(f"{i}  model {model_loss.item():.3f}  actor {actor_loss:.3f}  critic {critic_loss:.3f}")


if __name__ == "__main__":
    main()
