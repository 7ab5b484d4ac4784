# The forward is a generator that keeps the state of the stream between two yields.
import torch
from torch import nn


class Echo(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.cell = nn.LSTMCell(1, width)
        self.out = nn.Linear(width, 1)


def predictions(model, stream, window):
    state = None
    for block in stream.split(window):
        outputs = []
        for value in block:
            state = model.cell(value.view(1, 1), state)
            outputs.append(model.out(state[0]))
        state = tuple(s.detach() for s in state)
        yield block, torch.cat(outputs).squeeze(1)


def main():
    torch.manual_seed(0)
    model = Echo()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    stream = torch.sin(torch.linspace(0, 9, 48))
    for i, (block, predicted) in enumerate(predictions(model, stream, window=12)):
        loss = (predicted[:-1] - block[1:]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(i, loss.item())


if __name__ == "__main__":
    main()
