import torch, torch.nn as nn

def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

class AttentionGate(nn.Module):
    def __init__(self, g, x, inter):
        super().__init__()
        self.wg, self.wx, self.psi = nn.Conv2d(g, inter, 1), nn.Conv2d(x, inter, 1), nn.Conv2d(inter, 1, 1)
        self.relu, self.sig = nn.ReLU(inplace=True), nn.Sigmoid()
    def forward(self, g, x):
        a = self.relu(self.wg(g) + self.wx(x))
        a = self.sig(self.psi(a))
        x = x * a
        return x

class UNet(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.e1, self.e2 = block(1, c), block(c, 2 * c)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.gate = AttentionGate(2 * c, c, c)
        self.d1 = block(3 * c, c)
        self.out = nn.Conv2d(c, 1, 1)
    def forward(self, x):
        s1 = self.e1(x)
        b = self.e2(self.pool(s1))
        u = self.up(b)
        s = self.gate(u, s1)
        return self.out(self.d1(torch.cat([u, s], 1)))

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = UNet().to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
images, masks = torch.rand(8, 1, 16, 16), (torch.rand(8, 1, 16, 16) > 0.7).float()
for epoch in range(2):
    net.train()
    for k in range(0, 8, 4):
        img, msk = images[k:k+4].to(device), masks[k:k+4].to(device)
        optimizer.zero_grad()
        loss = criterion(net(img), msk)
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch+1}: {loss.item():.3f}")
