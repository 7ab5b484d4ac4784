import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from diffusion import Denoiser, Schedule
from ema_pytorch import EMA

set_seed(3)
accelerator = Accelerator(mixed_precision="no")
model, schedule = Denoiser(), Schedule(50)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
ema = EMA(model, beta=0.99)
data = torch.utils.data.DataLoader(torch.randn(256, 8), batch_size=16, shuffle=True)
model, optimizer, data = accelerator.prepare(model, optimizer, data)
previous = None
for epoch in range(5):
    for x in data:
        t = torch.randint(0, 50, (len(x),))
        noise = torch.randn_like(x)
        predicted = model(schedule.noised(x, noise, t), t)
        loss = F.mse_loss(predicted, noise)
        if previous is not None:
            loss = loss + 0.1 * F.mse_loss(predicted.mean(0), previous)
        previous = predicted.mean(0)
        optimizer.zero_grad()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        ema.update()
