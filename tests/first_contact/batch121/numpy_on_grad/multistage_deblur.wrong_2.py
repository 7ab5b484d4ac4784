import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

np.random.seed(1234)
torch.manual_seed(1234)


######### Losses ###########
class CharbonnierLoss(nn.Module):
    def __init__(self, eps=1e-3):
        super().__init__()
        self.eps = eps

    def forward(self, x, y):
        return torch.mean(torch.sqrt((x - y) ** 2 + self.eps ** 2))


class EdgeLoss(nn.Module):
    def __init__(self):
        super().__init__()
        k = torch.tensor([[0., 1., 0.], [1., -4., 1.], [0., 1., 0.]])
        self.register_buffer("kernel", k.view(1, 1, 3, 3))
        self.loss = CharbonnierLoss()

    def laplacian(self, img):
        return F.conv2d(F.pad(img, (1, 1, 1, 1), mode="replicate"), self.kernel)

    def forward(self, x, y):
        return self.loss(self.laplacian(x), self.laplacian(y))


######### Model ###########
class Stage(nn.Module):
    def __init__(self, n_feat):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, n_feat, 3, padding=1), nn.PReLU(),
            nn.Conv2d(n_feat, 1, 3, padding=1),
        )

    def forward(self, prev, blurred):
        return blurred + self.body(torch.cat([prev, blurred], 1))


class MultiStageNet(nn.Module):
    def __init__(self, n_feat=8, n_stages=3):
        super().__init__()
        self.stages = nn.ModuleList([Stage(n_feat) for _ in range(n_stages)])

    def forward(self, x):
        outs, cur = [], x
        for stage in self.stages:
            cur = stage(cur, x)
            outs.append(cur)
        return outs[::-1]


######### Data ###########
class BlurDataset(Dataset):
    def __init__(self, n=48, size=16):
        sharp = (np.random.rand(n, 1, size, size) > 0.7).astype(np.float32)
        self.sharp = torch.from_numpy(sharp)
        self.blur = F.avg_pool2d(self.sharp, 3, stride=1, padding=1)

    def __len__(self):
        return len(self.sharp)

    def __getitem__(self, i):
        return self.sharp[i], self.blur[i]


def psnr(a, b):
    return -10 * torch.log10(F.mse_loss(a.clamp(0, 1), b))


train_loader = DataLoader(BlurDataset(), batch_size=8, shuffle=True)
val_set = BlurDataset(16)
model_restoration = MultiStageNet()
optimizer = torch.optim.Adam(model_restoration.parameters(), lr=2e-3, betas=(0.9, 0.999))
criterion_char = CharbonnierLoss()
criterion_edge = EdgeLoss()

for epoch in range(1, 4):
    epoch_loss = 0
    model_restoration.train()
    for i, (target, input_) in enumerate(train_loader):
        for param in model_restoration.parameters():
            param.grad = None
        restored = model_restoration(input_)

        # Compute loss at each stage
        loss_char = np.sum([criterion_char(restored[j].detach(), target) for j in range(len(restored))])
        loss_edge = np.sum([criterion_edge(restored[j].detach(), target) for j in range(len(restored))])
        loss = loss_char + 0.05 * loss_edge

        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()

    model_restoration.eval()
    with torch.no_grad():
        val_psnr = psnr(model_restoration(val_set.blur)[0], val_set.sharp)
    print("Epoch: {}\tLoss: {:.4f}\tPSNR: {:.2f}".format(epoch, epoch_loss, val_psnr))
