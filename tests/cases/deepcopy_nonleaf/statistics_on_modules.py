# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = net.0.last_mean, module.last_mean, last_mean
import copy
import torch
from torch import nn


class ActivationStats:
    def __init__(self, model):
        self.stats = {}
        for name, m in model.named_modules():
            if isinstance(m, nn.Linear):
                m.register_forward_hook(self.hook(name))

    def hook(self, name):
        def fn(module, args, out):
            module.last_mean = out.mean(0)  # expect: place
            self.stats[name] = out.std().item()
        return fn


def train(steps=3):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2))
    stats = ActivationStats(net)
    opt = torch.optim.AdamW(net.parameters())
    best, checkpoint = float("inf"), None
    for s in range(steps):
        loss = nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if loss.item() < best:
            best, checkpoint = loss.item(), copy.deepcopy(net)  # expect: place
    return checkpoint, stats.stats


print(train()[1])
