# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = memory, centre, proto
"""Region-level contrastive term for semantic segmentation.

Every class has a slowly moving prototype; region embeddings of the current
batch are pulled to their own prototype and pushed away from the others.
"""
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
N_CLASSES, DIM, TAU, MOM = 5, 16, 0.2, 0.9


def scenes(n, size=16):
    for _ in range(n):
        rows = torch.randint(0, N_CLASSES, (4, 4, 4))
        mask = rows.repeat_interleave(size // 4, 1).repeat_interleave(size // 4, 2)
        image = F.one_hot(mask, N_CLASSES).permute(0, 3, 1, 2).float()[:, :3]
        yield image + 0.4 * torch.randn_like(image), mask


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
                                  nn.Conv2d(24, 24, 3, padding=1), nn.ReLU())
        self.classify = nn.Conv2d(24, N_CLASSES, 1)
        self.project = nn.Sequential(nn.Conv2d(24, 24, 1), nn.ReLU(), nn.Conv2d(24, DIM, 1))

    def forward(self, image):
        feats = self.body(image)
        return self.classify(feats), F.normalize(self.project(feats), dim=1)


def region_means(emb, mask):
    """{class: mean embedding of its pixels in this batch}"""
    flat, labels = emb.permute(0, 2, 3, 1).reshape(-1, DIM), mask.reshape(-1)
    return {c: F.normalize(flat[labels == c].mean(0), dim=0)
            for c in labels.unique().tolist()}


def contrast(regions, memory):
    known = sorted(memory)
    bank = torch.stack([memory[c] for c in known])  # expect: place
    pairs = [(bank @ vec / TAU, known.index(c)) for c, vec in regions.items() if c in memory]
    if not pairs:
        return bank.new_zeros(())
    logits, want = zip(*pairs)
    return F.cross_entropy(torch.stack(logits), torch.tensor(want))


def refresh(memory, regions):
    return {**memory,
            **{c: F.normalize(MOM * memory.get(c, centre) + (1 - MOM) * centre, dim=0)  # expect: place
               for c, centre in regions.items()}}


def fit(steps=8, weight=0.3):
    net = SegNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    memory, log = {}, defaultdict(list)
    for step, (image, mask) in enumerate(scenes(steps)):
        logits, emb = net(image)
        regions = region_means(emb, mask)  # expect: place
        terms = {"ce": F.cross_entropy(logits, mask)}
        if memory:
            terms["contrast"] = weight * contrast(regions, memory)  # expect: place
        opt.zero_grad()
        sum(terms.values()).backward()  # expect: place
        opt.step()
        memory = refresh(memory, regions)  # expect: place
        for name, value in terms.items():
            log[name].append(value.item())
    return net, log


if __name__ == "__main__":
    _, log = fit()
    print({k: [round(v, 3) for v in vs] for k, vs in log.items()})
