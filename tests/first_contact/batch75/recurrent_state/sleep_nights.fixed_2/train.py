import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from model import SleepStager
from nights import NightDataset

torch.manual_seed(11)

EPOCHS, BATCH, CHANNELS, STAGES = 3, 8, 4, 5

train_loader = DataLoader(NightDataset(n=64, seed=0), batch_size=BATCH, shuffle=True, drop_last=True)
val_loader = DataLoader(NightDataset(n=16, seed=1), batch_size=BATCH, drop_last=True)

model = SleepStager(CHANNELS, hidden_dim=16, batch_size=BATCH, n_stages=STAGES)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for signal, stage in train_loader:
        optimizer.zero_grad()
        output = model(signal)
        loss = criterion(output, stage)
        loss.backward()
        optimizer.step()
        running += loss.item()

    model.eval()
    correct = 0
    with torch.no_grad():
        for signal, stage in val_loader:
            correct += (model(signal).argmax(dim=1) == stage).sum().item()
    print(f"epoch {epoch}: loss {running / len(train_loader):.4f}, val acc {correct / 16:.3f}")
