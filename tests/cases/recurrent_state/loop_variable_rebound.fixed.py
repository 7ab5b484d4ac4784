# Three stacked cells with a skip connection; states are kept in a list.
import torch
import torch.nn as nn

torch.manual_seed(18)
cells = nn.ModuleList([nn.GRUCell(4, 8), nn.GRUCell(8, 8), nn.GRUCell(8, 8)])
fc = nn.Linear(16, 4)
optimizer = torch.optim.Adam([*cells.parameters(), *fc.parameters()], lr=2e-3)


def run(sequence, hiddens):
    outs = []
    for x in sequence:
        for k, cell in enumerate(cells):
            hiddens[k] = cell(x, hiddens[k])
            x = hiddens[k]
        outs.append(fc(torch.cat([hiddens[0], hiddens[-1]], dim=-1)))
    return torch.stack(outs), hiddens


hiddens = [torch.zeros(3, 8) for _ in cells]
for step in range(4):
    hiddens = [h.detach() for h in hiddens]
    sequence = torch.randn(5, 3, 4)
    prediction, hiddens = run(sequence, hiddens)
    loss = nn.functional.mse_loss(prediction, sequence.cumsum(0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
