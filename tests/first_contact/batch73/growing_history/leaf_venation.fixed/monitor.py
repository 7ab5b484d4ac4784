"""Does the representation collapse?  Effective rank of the embeddings, over a slow average."""
import torch


class CollapseMonitor:
    def __init__(self, dim, decay=0.98):
        self.decay = decay
        self.count = 0
        self.second_moment = torch.zeros(dim, dim)

    def observe(self, z):
        centred = z - z.mean(dim=0)
        batch = centred.T @ centred / (len(z) - 1)
        self.second_moment = self.decay * self.second_moment + (1 - self.decay) * batch
        self.count += 1

    def effective_rank(self):
        covariance = self.second_moment / (1 - self.decay ** self.count)
        spectrum = torch.linalg.eigvalsh(covariance).clamp(min=1e-12)
        share = spectrum / spectrum.sum()
        return torch.exp(-(share * share.log()).sum()).item()
