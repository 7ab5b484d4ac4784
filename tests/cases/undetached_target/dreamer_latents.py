# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = latents, posterior, z
"""World model and actor: imagination starts from the posterior latents of the replayed batch."""
import torch
from torch import nn

torch.manual_seed(88)


class WorldModel(nn.Module):
    def __init__(self, obs=5, act=2, z=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(obs, 16), nn.ELU(), nn.Linear(16, z))
        self.transition = nn.GRUCell(act, z)
        self.decoder = nn.Linear(z, obs)
        self.reward = nn.Linear(z, 1)

    def loss(self, obs, act, next_obs, rew):
        posterior = torch.tanh(self.encoder(obs))  # expect: place
        after = self.transition(act, posterior)
        recon = (self.decoder(posterior) - obs).pow(2).mean() + (self.decoder(after) - next_obs).pow(2).mean()
        return recon + (self.reward(after).squeeze(-1) - rew).pow(2).mean(), posterior


def imagine(world, actor, start, horizon=3):
    z, total = start, 0.0
    for _ in range(horizon):
        z = world.transition(actor(z), z)
        total = total + world.reward(z).mean()
    return total


world = WorldModel()
actor = nn.Sequential(nn.Linear(6, 12), nn.ELU(), nn.Linear(12, 2), nn.Tanh())
model_opt = torch.optim.Adam(world.parameters(), lr=1e-3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
for step in range(3):
    obs, act = torch.randn(8, 5), torch.rand(8, 2) * 2 - 1
    model_loss, latents = world.loss(obs, act, obs + 0.1 * torch.randn(8, 5), obs[:, 0] * act[:, 0])  # expect: place
    model_opt.zero_grad()
    model_loss.backward()
    model_opt.step()
    actor_loss = -imagine(world, actor, latents)  # expect: place
    actor_opt.zero_grad()
    actor_loss.backward()  # expect: place
    actor_opt.step()
