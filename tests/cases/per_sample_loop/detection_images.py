# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = feats, pyramid, features
# A toy detector: one backbone pass, then a loss for each image because box counts differ.
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, n_queries=4):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU())
        self.box_head = nn.Linear(8 * 16, n_queries * 4)
        self.n_queries = n_queries

    def extract(self, images):
        return self.backbone(images)

    def boxes(self, feature):
        return torch.sigmoid(self.box_head(feature.flatten())).view(self.n_queries, 4)


def match_and_score(pred, gt):
    cost = torch.cdist(pred, gt, p=1)
    return cost.min(dim=0).values.mean()


torch.manual_seed(40)
det = Detector()
opt = torch.optim.AdamW(det.parameters(), lr=1e-3, weight_decay=1e-4)
for step in range(3):
    images = torch.rand(3, 3, 8, 8)
    ground_truth = [torch.rand(n, 4) for n in (1, 3, 2)]
    features = det.extract(images)  # expect: place
    opt.zero_grad()
    for feature, gt in zip(features, ground_truth):
        loss = match_and_score(det.boxes(feature), gt)
        loss.backward()  # expect: place
    opt.step()
