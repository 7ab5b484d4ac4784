# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = self.logit_scale
import math
import torch
from torch import nn


class CLIPLike(nn.Module):
    def __init__(self, d_img, d_txt, d=8):
        super().__init__()
        self.img, self.txt = nn.Linear(d_img, d), nn.Linear(d_txt, d)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, images, captions):
        a = nn.functional.normalize(self.img(images), dim=1)
        b = nn.functional.normalize(self.txt(captions), dim=1)
        scale = math.exp(self.logit_scale.item())  # expect: place
        logits = scale * a @ b.t()
        target = torch.arange(len(logits))
        return (nn.functional.cross_entropy(logits, target) + nn.functional.cross_entropy(logits.t(), target)) / 2


if __name__ == "__main__":
    torch.manual_seed(1)
    model = CLIPLike(10, 6)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    mix = torch.randn(10, 6)
    for step in range(6):
        images = torch.randn(16, 10)
        loss = model(images, images @ mix)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item(), model.logit_scale.item())
