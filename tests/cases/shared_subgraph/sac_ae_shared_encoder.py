# expect: pattern = shared-subgraph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = h, z, features, latent
# Reconstruction and reward prediction from one latent, in two methods with an optimizer each.
import torch
from torch import nn


class Latent(nn.Module):
    def __init__(self, obs=8, dim=5):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(obs, 24), nn.ReLU(), nn.Linear(24, dim), nn.Tanh())
        self.decoder = nn.Sequential(nn.Linear(dim, 24), nn.ReLU(), nn.Linear(24, obs))
        self.reward = nn.Sequential(nn.Linear(dim, 24), nn.ReLU(), nn.Linear(24, 1))


class Agent:
    def __init__(self, net):
        self.net = net
        self.ae_opt = torch.optim.Adam([*net.encoder.parameters(), *net.decoder.parameters()], lr=1e-3)
        self.reward_opt = torch.optim.Adam(net.reward.parameters(), lr=1e-3)

    def update_autoencoder(self, obs, latent):
        loss = (self.net.decoder(latent) - obs).pow(2).mean() + 1e-4 * latent.pow(2).sum(1).mean()
        self.ae_opt.zero_grad()
        loss.backward()  # expect: place
        return loss

    def update_reward(self, reward, latent):
        loss = nn.functional.mse_loss(self.net.reward(latent), reward)  # expect: place
        self.reward_opt.zero_grad()
        loss.backward()  # expect: place
        return loss

    def update(self, obs, reward):
        latent = self.net.encoder(obs)  # expect: place
        ae = self.update_autoencoder(obs, latent)  # expect: place
        rw = self.update_reward(reward, latent)  # expect: place
        self.ae_opt.step()
        self.reward_opt.step()
        return ae.item(), rw.item()


torch.manual_seed(0)
agent = Agent(Latent())
for i in range(4):
    obs = torch.randn(16, 8)
    print(i, *agent.update(obs, obs[:, :2].prod(1, keepdim=True)))
