import torch
from torch import nn


class Board(nn.Module):
    """Rows that a controller reads by content and writes one at a time, round and round."""

    def __init__(self, rows, width):
        super().__init__()
        self.rows, self.width = rows, width
        self.blank = nn.Parameter(0.1 * torch.randn(rows, width))
        self.sharp = nn.Parameter(torch.tensor(1.0))

    def reset(self, batch):
        self.mem = self.blank.unsqueeze(0).repeat(batch, 1, 1)
        self.at = 0

    def read(self, query):
        score = torch.einsum("bw,brw->br", query, self.mem)
        weight = torch.softmax(self.sharp * score, -1)
        return torch.einsum("br,brw->bw", weight, self.mem)

    def write(self, row, gate):
        kept = self.mem[:, self.at]
        self.mem = self.mem.detach().clone()
        self.mem[:, self.at] = gate * row + (1 - gate) * kept
        self.at = (self.at + 1) % self.rows


class Operator(nn.Module):
    def __init__(self, n_in, n_out, rows=8, width=16, hidden=32):
        super().__init__()
        self.board = Board(rows, width)
        self.cell = nn.GRUCell(n_in + width, hidden)
        self.query = nn.Linear(n_in, width)
        self.row = nn.Linear(hidden, width)
        self.gate = nn.Linear(n_in, 1)
        self.out = nn.Linear(hidden + width, n_out)
        self.hidden = hidden

    def forward(self, tokens):
        batch, length, _ = tokens.shape
        self.board.reset(batch)
        h = tokens.new_zeros(batch, self.hidden)
        said = []
        for t in range(length):
            seen = self.board.read(self.query(tokens[:, t]))
            h = self.cell(torch.cat([tokens[:, t], seen], -1), h)
            said.append(self.out(torch.cat([h, seen], -1)))
            self.board.write(torch.tanh(self.row(h)), torch.sigmoid(self.gate(tokens[:, t])))
        return torch.stack(said, 1)
