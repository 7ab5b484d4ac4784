"""Early-warning scores for a ward: one measurement a patient and round, one update a round."""
import argparse

import torch
from torch import nn

from notes import PatientNotes
from rounds import ward_rounds


class WarningModel(nn.Module):
    def __init__(self, vitals, width):
        super().__init__()
        self.notes = PatientNotes(width)
        self.embed = nn.Linear(vitals, width)
        self.cell = nn.GRUCell(width, width)
        self.score = nn.Linear(width, 1)

    def forward(self, patients, vitals):
        carried = self.notes.read(patients)
        state = self.cell(torch.tanh(self.embed(vitals)), carried)
        self.notes.write(patients, state)
        return self.score(state).squeeze(-1)


def run_round(model, opt, criterion, patients, vitals, worse):
    opt.zero_grad()
    loss = criterion(model(patients, vitals), worse)
    loss.backward()
    opt.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args([])
    torch.manual_seed(11)
    model = WarningModel(5, args.width)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()
    for number, batch in enumerate(ward_rounds(args.rounds, beds=9, seen=6)):
        value = run_round(model, opt, criterion, *batch)
        print(f"round {number:2d}  loss {value:.4f}")


if __name__ == "__main__":
    main()
