"""Bird call classifier: every batch is learned twice, once as recorded and once with wind noise."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class CallNet(nn.Module):
    def __init__(self, bands=20, birds=4):
        super().__init__()
        self.fc1 = nn.Linear(bands, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, birds)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def batches(n, songs):
    for _ in range(n):
        label = torch.randint(0, len(songs), (32,))
        yield songs[label] + 0.3 * torch.randn(32, songs.shape[1]), label


torch.manual_seed(6)
songs = torch.randn(4, 20)
model = CallNet()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(2):
    for clean, label in batches(5, songs):
        noisy = clean + 0.8 * torch.randn_like(clean)
        out_clean = model(clean)
        out_noisy = model(noisy).detach().requires_grad_()

        opt.zero_grad()
        loss_clean = F.cross_entropy(out_clean, label)
        loss_clean.backward()
        opt.step()

        opt.zero_grad()
        loss_noisy = F.cross_entropy(out_noisy, label)
        loss_noisy.backward()
        opt.step()
        print(epoch, round(loss_clean.item(), 4), round(loss_noisy.item(), 4))
