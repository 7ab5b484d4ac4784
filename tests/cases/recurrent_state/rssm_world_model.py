# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = posterior, self.posterior, self._posterior
# A small world model: chunks of one long episode, the latent goes on from chunk to chunk.
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class RSSM(nn.Module):
    def __init__(self, obs_dim, act_dim, deter=24, stoch=6):
        super().__init__()
        self.deter, self.stoch = deter, stoch
        self.inp = nn.Linear(stoch + act_dim, deter)
        self.cell = nn.GRUCell(deter, deter)
        self.prior_net = nn.Linear(deter, 2 * stoch)
        self.post_net = nn.Linear(deter + obs_dim, 2 * stoch)

    def initial(self, batch):
        return {"deter": torch.zeros(batch, self.deter), "stoch": torch.zeros(batch, self.stoch)}

    @staticmethod
    def _dist(stats):
        mean, std = stats.chunk(2, dim=-1)
        return torch.distributions.Normal(mean, F.softplus(std) + 0.1)

    def observe(self, obs, action, state):
        feats, kls = [], []
        for t in range(obs.shape[0]):
            x = torch.relu(self.inp(torch.cat([state["stoch"], action[t]], -1)))
            deter = self.cell(x, state["deter"])
            prior = self._dist(self.prior_net(deter))
            post = self._dist(self.post_net(torch.cat([deter, obs[t]], -1)))
            state = {"deter": deter, "stoch": post.rsample()}
            feats.append(torch.cat([deter, state["stoch"]], -1))
            kls.append(torch.distributions.kl_divergence(post, prior).sum(-1))
        return torch.stack(feats), torch.stack(kls), state


class WorldModelTrainer:
    def __init__(self, args):
        self.args = args
        self.rssm = RSSM(args.obs_dim, 2)
        self.decoder = nn.Linear(30, args.obs_dim)
        params = list(self.rssm.parameters()) + list(self.decoder.parameters())
        self.opt = torch.optim.AdamW(params, lr=args.lr)
        self._posterior = None

    def update(self, chunk):
        if self._posterior is None:
            self._posterior = self.rssm.initial(chunk["obs"].shape[1])
        feats, kl, self._posterior = self.rssm.observe(  # expect: place
            chunk["obs"], chunk["action"], self._posterior  # expect: place
        )
        recon = F.mse_loss(self.decoder(feats), chunk["obs"])
        loss = recon + self.args.kl_scale * kl.mean()
        self.opt.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.rssm.parameters(), 10.0)
        self.opt.step()
        return {"recon": recon.item(), "kl": kl.mean().item()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--obs-dim", type=int, default=5)
    parser.add_argument("--chunk", type=int, default=6)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--kl-scale", type=float, default=0.5)
    args = parser.parse_args()
    torch.manual_seed(0)
    episode = {"obs": torch.randn(30, 4, args.obs_dim), "action": torch.randn(30, 4, 2)}
    trainer = WorldModelTrainer(args)
    for start in range(0, 30, args.chunk):
        chunk = {k: v[start : start + args.chunk] for k, v in episode.items()}
        metrics = trainer.update(chunk)
        print(start, " ".join(f"{k}={v:.3f}" for k, v in metrics.items()))


if __name__ == "__main__":
    main()
