# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = self.optimizer
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class HiveDataset(Dataset):
    """Windows of hive weight and weather, target: weight gain of the next day."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 14, generator=g)
        w = torch.linspace(1, -1, 14)
        self.y = (self.x @ w).tanh() * 2 + 0.1 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"window": self.x[i], "gain": self.y[i]}


class HiveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(14, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, window, gain=None):
        pred = self.net(window).squeeze(-1)
        loss = nn.functional.huber_loss(pred, gain) if gain is not None else None
        return {"pred": pred, "loss": loss}


class Trainer:
    def __init__(self, model, train_set, eval_set, batch_size=8, grad_accum=4, lr=3e-3, epochs=3):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True, drop_last=True)
        self.eval_loader = DataLoader(eval_set, batch_size=64)
        self.grad_accum, self.epochs = grad_accum, epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        total = epochs * len(self.train_loader) // grad_accum
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.1, total_iters=total)
        self.global_step = 0

    def training_step(self, batch):
        self.model.train()
        loss = self.model(**batch)["loss"] / self.grad_accum
        loss.backward()  # expect: place
        return loss.detach()

    def optimizer_step(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()  # expect: place
        self.scheduler.step()
        self.global_step += 1

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        losses = [self.model(**batch)["loss"].item() for batch in self.eval_loader]
        return sum(losses) / len(losses)

    def train(self):
        for epoch in range(self.epochs):
            running = torch.zeros(())
            for i, batch in enumerate(self.train_loader):
                running += self.training_step(batch)
                if (i + 1) % self.grad_accum == 0:
                    self.optimizer_step()
            print(f"epoch {epoch} step {self.global_step} train {running.item():.3f} eval {self.evaluate():.3f}")


if __name__ == "__main__":
    torch.manual_seed(42)
    Trainer(HiveNet(), HiveDataset(256, 1), HiveDataset(64, 2)).train()
