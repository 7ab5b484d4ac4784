import torch
from torch import nn

from loader import get_loader
from nets import MillNet

ACCUM_STEPS = 4
EPOCHS = 2


def train(model, loader, device="cpu"):
    criterion = nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    model.train()
    for epoch in range(EPOCHS):
        loss = 0
        optimizer.zero_grad()
        for step, (signal, size) in enumerate(loader, start=1):
            signal, size = signal.to(device), size.to(device)
            loss = criterion(model(signal), size) / ACCUM_STEPS
            if step % ACCUM_STEPS == 0:
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                optimizer.zero_grad()
                print(f"epoch {epoch} step {step:3d} loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(17)
    train(MillNet(6), get_loader())
