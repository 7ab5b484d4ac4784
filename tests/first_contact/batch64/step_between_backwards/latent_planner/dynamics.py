import torch
import torch.nn as nn
import torch.nn.functional as F


class LatentDynamics(nn.Module):
    """Deterministic latent model: filter observations, predict reward and next observation."""

    def __init__(self, obs_dim, act_dim, latent=16):
        super().__init__()
        self.latent = latent
        self.encoder = nn.Sequential(nn.Linear(obs_dim, 24), nn.ELU())
        self.filter = nn.GRUCell(24 + act_dim, latent)
        self.transition = nn.Sequential(nn.Linear(latent + act_dim, 32), nn.ELU(), nn.Linear(32, latent), nn.Tanh())
        self.decoder = nn.Linear(latent, obs_dim)
        self.reward = nn.Sequential(nn.Linear(latent, 16), nn.ELU(), nn.Linear(16, 1))

    def observe(self, obs, actions):
        z = obs.new_zeros(obs.shape[1], self.latent)
        states = []
        for o, a in zip(obs, actions):
            z = self.filter(torch.cat([self.encoder(o), a], dim=-1), z)
            states.append(z)
        return torch.stack(states)

    def step(self, z, action):
        return self.transition(torch.cat([z, action], dim=-1))

    def loss(self, obs, actions, rewards):
        states = self.observe(obs, actions)
        predicted = self.step(states[:-1], actions[1:])
        recon = F.mse_loss(self.decoder(states), obs)
        consistency = F.mse_loss(predicted, states[1:].detach())
        reward = F.mse_loss(self.reward(states).squeeze(-1), rewards)
        return recon + consistency + reward, states
