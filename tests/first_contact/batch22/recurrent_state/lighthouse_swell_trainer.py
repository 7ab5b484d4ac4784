# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = hiddens, hidden
"""Swell at the lighthouse: a GRU on long records, with a small Trainer in the manner of Lightning."""
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


class SwellRecords(Dataset):
    """Each record is a long series of (wind, pressure) with the height of the swell."""

    def __init__(self, count: int, length: int) -> None:
        wind = torch.randn(count, length).cumsum(1) * 0.1
        pressure = torch.randn(count, length) * 0.3
        swell = torch.zeros(count, length)
        for t in range(1, length):
            swell[:, t] = 0.9 * swell[:, t - 1] + 0.1 * wind[:, t - 1].abs() - 0.02 * pressure[:, t]
        self.x = torch.stack([wind, pressure], dim=-1)
        self.y = swell

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i: int) -> Tuple[Tensor, Tensor]:
        return self.x[i], self.y[i]


class Module(nn.Module):
    """What the Trainer calls."""

    trainer: "Trainer"
    truncated_bptt_steps: int = 0

    def training_step(self, batch: Any, batch_idx: int, hiddens: Optional[Any] = None) -> Any:
        raise NotImplementedError

    def tbptt_split_batch(self, batch: Tuple[Tensor, ...], split_size: int) -> List[Tuple[Tensor, ...]]:
        time = batch[0].size(1)
        return [tuple(b[:, t : t + split_size] for b in batch) for t in range(0, time, split_size)]

    def log(self, name: str, value: Tensor) -> None:
        self.trainer.logged.setdefault(name, []).append(value.detach().item())


class SwellModel(Module):
    def __init__(self, hidden_size: int = 16, lr: float = 5e-3) -> None:
        super().__init__()
        self.truncated_bptt_steps = 12
        self.lr = lr
        self.gru = nn.GRU(2, hidden_size, batch_first=True)
        self.head = nn.Linear(hidden_size, 1)

    def forward(self, x: Tensor, hiddens: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
        out, hiddens = self.gru(x, hiddens)
        return self.head(out).squeeze(-1), hiddens

    def training_step(self, batch, batch_idx, hiddens=None):
        x, y = batch
        pred, hiddens = self(x, hiddens)  # expect: place
        loss = nn.functional.smooth_l1_loss(pred, y)
        self.log("train_loss", loss)
        return {"loss": loss, "hiddens": hiddens}  # expect: place

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


class Trainer:
    def __init__(self, max_epochs: int, gradient_clip_val: float = 0.0) -> None:
        self.max_epochs = max_epochs
        self.gradient_clip_val = gradient_clip_val
        self.logged: Dict[str, List[float]] = {}

    def fit(self, model: Module, loader: DataLoader) -> None:
        model.trainer = self
        self.optimizer = model.configure_optimizers()
        model.train()
        for epoch in range(self.max_epochs):
            for batch_idx, batch in enumerate(loader):
                self.run_training_batch(model, batch, batch_idx)
            means = {k: sum(v) / len(v) for k, v in self.logged.items()}
            print(f"epoch {epoch}", {k: round(v, 4) for k, v in means.items()})
            self.logged.clear()

    def run_training_batch(self, model: Module, batch: Any, batch_idx: int) -> None:
        splits = [batch]
        if model.truncated_bptt_steps > 0:
            splits = model.tbptt_split_batch(batch, model.truncated_bptt_steps)
        hiddens = None
        for split in splits:
            self.optimizer.zero_grad()
            result = model.training_step(split, batch_idx, hiddens)  # expect: place
            result["loss"].backward()  # expect: place
            if self.gradient_clip_val > 0:
                nn.utils.clip_grad_norm_(model.parameters(), self.gradient_clip_val)
            self.optimizer.step()
            hiddens = result.get("hiddens")  # expect: place


if __name__ == "__main__":
    torch.manual_seed(7)
    data = SwellRecords(count=24, length=60)
    Trainer(max_epochs=3, gradient_clip_val=1.0).fit(SwellModel(), DataLoader(data, batch_size=8, shuffle=True))
