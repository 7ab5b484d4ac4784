# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = total
"""Fit the digital twin of the batch reactor to the logged temperature profiles."""
import torch

from meters import Progress
from plant import BatchLog
from twin import ReactorTwin, rollout

CONFIG = {"seed": 23, "epochs": 5, "batch": 8, "lr": 2e-2, "horizon": 16}


def train_epoch(twin, log, opt, cfg):
    progress = Progress()
    for y0, jacket, target in log.batches(cfg["batch"]):
        predicted = rollout(twin, y0, jacket)
        progress.add(twin.misfit(predicted, target), len(y0))
        opt.zero_grad()
        progress.mean().backward()  # expect: place
        opt.step()
    return progress


def main(cfg=CONFIG):
    torch.manual_seed(cfg["seed"])
    log = BatchLog(n=40, horizon=cfg["horizon"])
    twin = ReactorTwin()
    opt = torch.optim.Adam(twin.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        progress = train_epoch(twin, log, opt, cfg)
        print(f"epoch {epoch}: {progress}")


if __name__ == "__main__":
    main()
