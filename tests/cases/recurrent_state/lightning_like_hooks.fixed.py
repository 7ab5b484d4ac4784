# A hand-rolled trainer with hooks; the module keeps its state in a buffer.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TrainingModule(nn.Module):
    def on_epoch_start(self): ...

    def on_batch_end(self): ...

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError


class StatefulGRU(TrainingModule):
    def __init__(self, features, width, batch_size):
        super().__init__()
        self.gru = nn.GRU(features, width, batch_first=True)
        self.out = nn.Linear(width, features)
        self.register_buffer("h", torch.zeros(1, batch_size, width), persistent=False)
        self.logged = {}

    def forward(self, x):
        y, self.h = self.gru(x, self.h)
        return self.out(y)

    def on_epoch_start(self):
        self.h.zero_()

    def on_batch_end(self):
        self.h = self.h.detach()

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        self.logged["loss"] = loss.detach()
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, module, loader):
        optimizer = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.on_epoch_start()
            for idx, batch in enumerate(loader):
                loss = module.training_step(batch, idx)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                module.on_batch_end()
            print(epoch, float(module.logged["loss"]))


torch.manual_seed(0)
series = torch.randn(32, 6, 3).cumsum(1)
loader = DataLoader(TensorDataset(series[:, :-1], series[:, 1:]), batch_size=8, drop_last=True)
Trainer(max_epochs=2).fit(StatefulGRU(3, 10, 8), loader)
