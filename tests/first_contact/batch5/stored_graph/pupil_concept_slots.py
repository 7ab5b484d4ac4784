# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = slots, self.slots, board, boards, self.boards
"""Key-value memory for exercise histories. Every pupil has a board of slots that is read, written
and kept until the pupil shows up again in a later mini-batch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ConceptMemory(nn.Module):
    def __init__(self, n_items, slots=4, dk=6, dv=8):
        super().__init__()
        self.item = nn.Embedding(n_items, dk)
        self.answer = nn.Embedding(2 * n_items, dv)
        self.keys = nn.Parameter(torch.randn(slots, dk) * 0.5)
        self.erase = nn.Linear(dv, dv)
        self.add = nn.Linear(dv, dv)
        self.out = nn.Linear(dk + dv, 1)
        self.initial = nn.Parameter(torch.zeros(slots, dv))
        self.n_items = n_items

    def step(self, board, item, correct):
        q = self.item(item)
        w = F.softmax(q @ self.keys.t(), dim=1)
        read = (w[:, :, None] * board).sum(1)
        logit = self.out(torch.cat([q, read], 1)).squeeze(1)
        v = self.answer(item + self.n_items * correct.long())
        e, a = torch.sigmoid(self.erase(v)), torch.tanh(self.add(v))
        board = board * (1 - w[:, :, None] * e[:, None]) + w[:, :, None] * a[:, None]
        return logit, board


class Classroom:
    def __init__(self, memory):
        self.memory = memory
        self.boards = {}

    def fetch(self, pupils):
        return torch.stack([self.boards.get(p, self.memory.initial) for p in pupils])

    def put(self, pupils, boards):
        for p, board in zip(pupils, boards):
            self.boards[p] = board  # expect: place

    def session(self, pupils, items, correct):
        board = self.fetch(pupils)
        loss = 0
        for t in range(items.size(1)):
            logit, board = self.memory.step(board, items[:, t], correct[:, t])
            loss = loss + F.binary_cross_entropy_with_logits(logit, correct[:, t])
        self.put(pupils, board)  # expect: place
        return loss / items.size(1)


def logbook(rounds, pupils=9, size=3, length=5, n_items=7):
    skill = torch.rand(pupils)
    for _ in range(rounds):
        who = torch.randperm(pupils)[:size]
        items = torch.randint(n_items, (size, length))
        right = torch.bernoulli((skill[who, None] + 0.3 - items / 12).clamp(0.05, 0.95))
        yield who.tolist(), items, right


if __name__ == "__main__":
    torch.manual_seed(77)
    memory = ConceptMemory(7)
    room = Classroom(memory)
    optimizer = torch.optim.Adam(memory.parameters(), lr=1e-2)
    for n, (who, items, right) in enumerate(logbook(14)):
        loss = room.session(who, items, right)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        if n % 7 == 6:
            print(n + 1, "sessions", f"{loss.item():.4f}")
