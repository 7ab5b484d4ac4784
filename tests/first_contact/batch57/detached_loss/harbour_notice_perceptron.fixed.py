# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad
# expect: carrier = margins, loss
"""Structured perceptron for harbour notices: tag each token as berth / vessel / time / other."""
import random
from dataclasses import dataclass

import torch
import torch.nn as nn

TAGS = ["OTHER", "BERTH", "VESSEL", "TIME"]


@dataclass
class Notice:
    tokens: torch.Tensor
    tags: torch.Tensor


def make_notices(n, vocab=60):
    """Token ids of one kind come mostly in a band of their own, and kinds follow each other."""
    out = []
    for _ in range(n):
        length = random.randint(5, 9)
        tags, t = [], random.randrange(4)
        for _ in range(length):
            tags.append(t)
            t = (t + 1) % 4 if random.random() < 0.7 else t
        toks = [t * 15 + random.randrange(15) for t in tags]
        out.append(Notice(torch.tensor(toks), torch.tensor(tags)))
    return out


class ChainScorer(nn.Module):
    def __init__(self, vocab=60, dim=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.emit = nn.Linear(dim, len(TAGS))
        self.trans = nn.Parameter(torch.zeros(len(TAGS), len(TAGS)))

    def emissions(self, tokens):
        return self.emit(torch.tanh(self.emb(tokens)))

    def path_score(self, emissions, path):
        steps = emissions.gather(1, path.unsqueeze(1)).sum()
        return steps + self.trans[path[:-1], path[1:]].sum()

    @torch.no_grad()
    def decode(self, emissions, gold):
        """Best path when each wrong tag earns a bonus of one (cost augmented)."""
        cost = torch.ones_like(emissions).scatter_(1, gold.unsqueeze(1), 0.0)
        em = emissions + cost
        best, back = em[0], []
        for t in range(1, len(em)):
            cand = best.unsqueeze(1) + self.trans
            best, arg = cand.max(0)
            best = best + em[t]
            back.append(arg)
        path = [best.argmax()]
        for arg in reversed(back):
            path.append(arg[path[-1]])
        return torch.stack(path[::-1])


def margin(model, notice):
    em = model.emissions(notice.tokens)
    guess = model.decode(em, notice.tags)
    wrong = (guess != notice.tags).sum()
    return (wrong + model.path_score(em, guess) - model.path_score(em, notice.tags)).clamp(min=0)


def main():
    torch.manual_seed(3)
    random.seed(3)
    notices = make_notices(48)
    model = ChainScorer()
    optim = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(4):
        random.shuffle(notices)
        seen = 0.0
        for i in range(0, len(notices), 8):
            margins = [margin(model, n) for n in notices[i:i + 8]]
            loss = torch.stack(margins).mean()  # expect: place
            optim.zero_grad()
            loss.backward()  # expect: place
            optim.step()
            seen += loss.item()
        print(f"epoch {epoch}  margin {seen / 6:.3f}")


if __name__ == "__main__":
    main()
