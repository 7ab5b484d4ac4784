# Train a classifier on the codes of an autoencoder that was trained before.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, d_in=12, d_code=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d_in, 8), nn.ReLU(), nn.Linear(8, d_code))
        self.decoder = nn.Sequential(nn.Linear(d_code, 8), nn.ReLU(), nn.Linear(8, d_in))

    def forward(self, x):
        return self.decoder(self.encoder(x))


torch.manual_seed(0)
X_train = torch.rand(24, 12)
y_train = (X_train.mean(1) > 0.5).long()
autoencoder = AutoEncoder()
ae_optimizer = torch.optim.Adam(autoencoder.parameters(), lr=1e-2)
for _ in range(3):
    ae_loss = nn.functional.mse_loss(autoencoder(X_train), X_train)
    ae_optimizer.zero_grad()
    ae_loss.backward()
    ae_optimizer.step()

autoencoder.eval()
with torch.no_grad():
    encoded = autoencoder.encoder(X_train)
loader = DataLoader(TensorDataset(encoded, y_train), batch_size=8)
classifier = nn.Linear(4, 2)
optimizer = torch.optim.Adam(classifier.parameters(), lr=1e-2)

for epoch in range(2):
    for codes, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(classifier(codes), labels)
        loss.backward()
        optimizer.step()
