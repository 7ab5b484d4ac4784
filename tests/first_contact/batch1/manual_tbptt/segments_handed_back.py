# expect: pattern = manual-tbptt
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = states, state, h
"""TBPTT by hand: every K steps a loss, whose gradient is handed back from state to state."""
import torch
from torch import nn


class TBPTT:
    def __init__(self, cell, readout, loss_fn, optimizer, k=4):
        self.cell, self.readout, self.loss_fn, self.optimizer, self.k = cell, readout, loss_fn, optimizer, k

    def train(self, sequence, targets, h0):
        states = [(None, h0)]
        log = []
        for t, x in enumerate(sequence):
            h_in = states[-1][1]  # expect: place
            if h_in.requires_grad:
                h_in.retain_grad()
            h_out = self.cell(x, h_in)  # expect: place
            states.append((h_in, h_out))
            del states[:-self.k]

            if (t + 1) % self.k == 0:
                loss = self.loss_fn(self.readout(h_out), targets[t])
                self.optimizer.zero_grad()
                loss.backward()  # expect: place
                for i in range(1, self.k):
                    grad = states[-i][0].grad
                    if grad is None:
                        break
                    states[-i - 1][1].backward(grad)  # expect: place
                self.optimizer.step()
                log.append(loss.item())
        return log


def majority(length, batch):
    """Target at each time: was the sum of the last four inputs positive?"""
    x = torch.randn(length, batch, 1)
    window = x.squeeze(-1).unfold(0, 4, 1).sum(-1)
    y = torch.zeros(length, batch, 1)
    y[3:] = (window > 0).float().unsqueeze(-1)
    return x, y


def run(seed=15, hidden=10, batch=8):
    torch.manual_seed(seed)
    cell, readout = nn.GRUCell(1, hidden), nn.Linear(hidden, 1)
    optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=0.02)
    trainer = TBPTT(cell, readout, nn.BCEWithLogitsLoss(), optimizer)
    x, y = majority(32, batch)
    for epoch in range(2):
        log = trainer.train(x, y, torch.zeros(batch, hidden))
        print("epoch", epoch, " ".join("%.3f" % v for v in log))


if __name__ == "__main__":
    run()
