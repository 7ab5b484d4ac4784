# expect: pattern = nonleaf-grad
# expect: raises = ValueError: can't optimize a non-leaf Tensor
# expect: carrier = img
import torch
from torch import nn


def gram(f):
    b, c, h, w = f.shape
    f = f.view(b, c, h * w)
    return f @ f.transpose(1, 2) / (c * h * w)


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)])
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        feats = []
        for layer in self.layers:
            x = torch.relu(layer(x))
            feats.append(x)
        return feats


def main(steps=4):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vgg = Features().to(device)
    content, style = torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16)
    with torch.no_grad():
        c_feats = vgg(content.to(device))
        s_grams = [gram(f) for f in vgg(style.to(device))]
    img = nn.Parameter(content.clone()).to(device, torch.float64).float()  # expect: place
    optimizer = torch.optim.Adam([img], lr=0.02)  # expect: place
    for step in range(steps):
        feats = vgg(img)
        c_loss = (feats[-1] - c_feats[-1]).pow(2).mean()
        s_loss = sum((gram(f) - g).pow(2).sum() for f, g in zip(feats, s_grams))
        loss = c_loss + 1e3 * s_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
