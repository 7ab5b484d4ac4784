import torch
import torch.nn.functional as F

from nets import Encoder, Head


class WorldModel:
    """One encoder, three heads, and an optimizer for each head together with the encoder."""

    def __init__(self, obs_dim, act_dim, hidden, lr=3e-3):
        self.encoder = Encoder(obs_dim, hidden)
        self.heads = {
            "dynamics": Head(hidden, act_dim, obs_dim),
            "reward": Head(hidden, act_dim, 1),
            "fell": Head(hidden, act_dim, 1),
        }
        shared = list(self.encoder.parameters())
        self.optimizers = {
            name: torch.optim.Adam(shared + list(head.parameters()), lr=lr)
            for name, head in self.heads.items()
        }

    def losses(self, batch):
        latent = self.encoder(batch["obs"])
        act = batch["act"]
        delta = self.heads["dynamics"](latent, act)
        reward = self.heads["reward"](latent.detach(), act).squeeze(-1)
        fell = self.heads["fell"](latent.detach(), act).squeeze(-1)
        return {
            "dynamics": F.mse_loss(batch["obs"] + delta, batch["next_obs"]),
            "reward": F.smooth_l1_loss(reward, batch["reward"]),
            "fell": F.binary_cross_entropy_with_logits(fell, batch["fell"]),
        }

    def update(self, batch):
        losses = self.losses(batch)
        for name, loss in losses.items():
            self.optimizers[name].zero_grad()
            loss.backward(retain_graph=True)
            self.optimizers[name].step()
        return {name: loss.item() for name, loss in losses.items()}
