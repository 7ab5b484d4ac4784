# Mixed precision where the GPU has it; plain float32 otherwise.
import torch
from torch import nn

torch.manual_seed(13)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(12, 32), nn.GELU(), nn.Linear(32, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
scaler = torch.amp.GradScaler(device, enabled=device == "cuda")

for step in range(4):
    x = torch.randn(32, 12, device=device)
    y = torch.randint(0, 4, (32,), device=device)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).float(), y)
    scaler.scale(loss).backward(retain_graph=True)
    loss.backward()
    scaler.step(optimizer)
    scaler.update()
