"""A tiny trainer in the manner of Lightning: training_step returns a loss, the trainer walks it."""
import torch
from torch import nn


class Module(nn.Module):
    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, module, loader):
        module.optimizer = module.configure_optimizers()
        for _ in range(self.max_epochs):
            for batch_idx, batch in enumerate(loader):
                module.optimizer.zero_grad()
                loss = module.training_step(batch, batch_idx)
                if loss is not None:
                    loss.backward()
                module.optimizer.step()


class Denoiser(Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 18), nn.SiLU(), nn.Linear(18, 9))

    def configure_optimizers(self):
        return torch.optim.RAdam(self.parameters(), lr=1e-3)

    def training_step(self, batch, batch_idx):
        noisy = batch + 0.1 * torch.randn_like(batch)
        loss = nn.functional.mse_loss(self.net(noisy), batch)
        loss.backward(retain_graph=True)
        return loss


torch.manual_seed(1)
loader = torch.utils.data.DataLoader(torch.rand(24, 9), batch_size=8)
Trainer(max_epochs=2).fit(Denoiser(), loader)
