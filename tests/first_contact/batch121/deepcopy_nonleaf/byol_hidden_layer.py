# expect: pattern = deepcopy-nonleaf
# expect: also = stored-graph
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = hidden
"""BYOL on sensor windows: the representation is taken from inside the net with a hook."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class MLP(nn.Sequential):
    def __init__(self, dim, out, hidden=64):
        super().__init__(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, out))


class NetWrapper(nn.Module):
    """Runs `net`, takes the output of one of its layers and projects it."""

    def __init__(self, net, layer, proj_dim=16):
        super().__init__()
        self.net = net
        self.layer = layer
        self.proj_dim = proj_dim
        self.projector = None
        self.hidden = None
        dict(net.named_modules())[layer].register_forward_hook(self._hook)

    def _hook(self, _module, _inputs, output):
        self.hidden = output.flatten(1)  # expect: place

    def get_representation(self, x):
        self.net(x)
        return self.hidden  # expect: place

    def forward(self, x):
        representation = self.get_representation(x)
        if self.projector is None:
            self.projector = MLP(representation.shape[1], self.proj_dim)
        return self.projector(representation)


class BYOL(nn.Module):
    def __init__(self, net, layer, example, decay=0.98):
        super().__init__()
        self.online_encoder = NetWrapper(net, layer)
        self.predictor = MLP(16, 16)
        self.decay = decay
        self.online_encoder(example)  # expect: place
        self.target_encoder = copy.deepcopy(self.online_encoder)  # expect: place
        for p in self.target_encoder.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update_moving_average(self):
        for old, new in zip(self.target_encoder.parameters(), self.online_encoder.parameters()):
            old.mul_(self.decay).add_(new, alpha=1 - self.decay)

    def augment(self, x):
        return x * (1 + 0.1 * torch.randn(x.shape[0], 1, 1)) + 0.1 * torch.randn_like(x)

    def forward(self, x):
        a, b = self.augment(x), self.augment(x)
        pa, pb = self.predictor(self.online_encoder(a)), self.predictor(self.online_encoder(b))
        with torch.no_grad():
            ta, tb = self.target_encoder(a), self.target_encoder(b)
        return (2 - F.cosine_similarity(pa, tb) - F.cosine_similarity(pb, ta)).mean()


def sensor_windows(n=128, length=32):
    t = torch.linspace(0, 6.28, length)
    freq = torch.randint(1, 5, (n, 1, 1)).float()
    phase = torch.rand(n, 1, 1) * 6.28
    return torch.cat([torch.sin(freq * t + phase), torch.cos(freq * t + phase)], dim=1)


backbone = nn.Sequential()
backbone.add_module("conv1", nn.Conv1d(2, 8, 5, stride=2))
backbone.add_module("relu1", nn.ReLU())
backbone.add_module("conv2", nn.Conv1d(8, 16, 5, stride=2))
backbone.add_module("avgpool", nn.AdaptiveAvgPool1d(2))
backbone.add_module("flatten", nn.Flatten())
backbone.add_module("fc", nn.Linear(32, 4))

data = sensor_windows()
learner = BYOL(backbone, "avgpool", data[:4])
opt = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=1e-3)
for step in range(12):
    batch = data[torch.randint(0, len(data), (32,))]
    loss = learner(batch)
    opt.zero_grad()
    loss.backward()
    opt.step()
    learner.update_moving_average()
    if step % 4 == 0:
        print(f"step {step}: {loss.item():.4f}")
