# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = scale, self.logit_scale
import torch
from torch import nn
import torch.nn.functional as F


class ClipLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(12, 8)
        self.text = nn.EmbeddingBag(50, 8)
        self.logit_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, img, txt):
        i = F.normalize(self.image(img), dim=-1)
        t = F.normalize(self.text(txt), dim=-1)
        scale = self.logit_scale.data.exp().clamp(max=100)  # expect: place
        return scale * i @ t.t()


def contrastive(logits):
    y = torch.arange(len(logits))
    return 0.5 * (F.cross_entropy(logits, y) + F.cross_entropy(logits.t(), y))


class Runner:
    def __init__(self, steps):
        torch.manual_seed(0)
        self.steps = steps
        self.model = ClipLike()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3, weight_decay=0.0)

    def run(self):
        for n in range(self.steps):
            logits = self.model(torch.randn(8, 12), torch.randint(0, 50, (8, 5)))
            loss = contrastive(logits)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            print(n, loss.item())


Runner(6).run()
