# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.previous, previous, model.previous, denoiser.previous
# A denoiser that is conditioned on what it predicted for the batch before.
import torch
import torch.nn.functional as F
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, dim, width=24):
        super().__init__()
        self.time = nn.Embedding(10, width)
        self.inp, self.out = nn.Linear(2 * dim, width), nn.Linear(width, dim)
        self.previous = None

    def predict(self, noisy, t):
        hint = torch.zeros_like(noisy) if self.previous is None else self.previous
        h = F.silu(self.inp(torch.cat([noisy, hint], dim=-1)) + self.time(t))
        clean = self.out(h)
        self.previous = clean  # expect: place
        return clean


class DiffusionTrainer:
    def __init__(self, model, ema=0.99):
        self.model, self.decay = model, ema
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.shadow = {k: v.clone() for k, v in model.state_dict().items()}
        self.alpha = torch.linspace(0.98, 0.1, 10)

    def step(self, x):
        t = torch.randint(0, 10, (len(x),))
        a = self.alpha[t].unsqueeze(1)
        noisy = a.sqrt() * x + (1 - a).sqrt() * torch.randn_like(x)
        loss = F.mse_loss(self.model.predict(noisy, t), x)  # expect: place
        self.opt.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        with torch.no_grad():
            for k, v in self.model.state_dict().items():
                self.shadow[k].lerp_(v, 1 - self.decay)
        return loss.item()


torch.manual_seed(0)
trainer = DiffusionTrainer(Denoiser(4))
for step in range(4):
    print(step, trainer.step(torch.randn(8, 4)))
