# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = outputs, output, loss, metrics, history, averaged, values
"""Seabed height from stereo strips, photometric self-supervision. Host memory climbs until the machine swaps."""
from collections import defaultdict, OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def warp_rows(img, disparity):
    n, _, h, w = img.shape
    ys, xs = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
    grid = torch.stack([xs.expand(n, h, w) - disparity.squeeze(1), ys.expand(n, h, w)], dim=3)
    return F.grid_sample(img, grid, align_corners=True, padding_mode="border")


class DispNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 12, 3, padding=2, dilation=2)
        self.conv3 = nn.Conv2d(12, 1, 3, padding=1)

    def forward(self, pair):
        x = F.elu(self.conv1(pair))
        x = F.elu(self.conv2(x))
        return 0.3 * torch.sigmoid(self.conv3(x))


class SelfSupModel(nn.Module):
    def __init__(self, smoothness=0.05):
        super().__init__()
        self.net = DispNet()
        self.smoothness = smoothness

    def forward(self, batch):
        disp = self.net(torch.cat([batch["left"], batch["right"]], 1))
        photometric = (warp_rows(batch["right"], disp) - batch["left"]).abs().mean()
        smooth = (disp[..., 1:] - disp[..., :-1]).abs().mean()
        return {
            "loss": photometric + self.smoothness * smooth,
            "metrics": {"photometric": photometric, "smoothness": smooth},
        }


class Strips(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        base = rng.rand(n, 1, 16, 28).astype("float32")
        base = (base + np.roll(base, 1, 3) + np.roll(base, 2, 3)) / 3
        self.left = torch.from_numpy(base[..., 3:27].copy())
        self.right = torch.from_numpy(base[..., 1:25].copy())

    def __len__(self):
        return len(self.left)

    def __getitem__(self, i):
        return {"left": self.left[i], "right": self.right[i]}


class Trainer:
    def __init__(self, max_epochs=5):
        self.max_epochs = max_epochs
        self.history = OrderedDict()

    def fit(self, model, dataset):
        self.optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        loader = torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=True)
        for epoch in range(self.max_epochs):
            outputs = self.train(loader, model)
            self.history[epoch] = self.average(outputs)  # expect: place
            print(epoch, " ".join("%s %.4f" % (k, v) for k, v in self.history[epoch].items()))

    def train(self, loader, model):
        model.train()
        outputs = []
        for batch in loader:
            self.optimizer.zero_grad()
            output = model(batch)
            output["loss"].backward()
            self.optimizer.step()
            outputs.append(output)  # expect: place
        return outputs

    @staticmethod
    def average(outputs):
        values = defaultdict(list)
        for output in outputs:
            values["loss"].append(output["loss"])  # expect: place
            for name, metric in output["metrics"].items():
                values[name].append(metric)  # expect: place
        return {name: torch.stack(v).mean() for name, v in values.items()}  # expect: place


if __name__ == "__main__":
    torch.manual_seed(42)
    Trainer().fit(SelfSupModel(), Strips(48, seed=1))
