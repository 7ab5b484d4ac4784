# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = hidden
"""Which programme will a listener of the web radio switch to next?

A recommender on sessions without any user id (after GRU4Rec): the lanes of a batch each read one
session, and as soon as a session is over its lane goes on with the next one of the log.
"""
import argparse

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--lanes", type=int, default=24)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--seed", type=int, default=5)

PROGRAMMES = 60


def make_log(rng, sessions):
    """Listeners stay within a genre of ten programmes and drift to its later ones."""
    log = []
    for _ in range(sessions):
        genre = rng.integers(0, PROGRAMMES // 10)
        at = rng.integers(0, 10)
        played = []
        for _ in range(rng.integers(4, 15)):
            played.append(genre * 10 + at)
            at = (at + rng.choice([1, 1, 2, 7])) % 10
        log.append(np.array(played))
    return log


class ParallelSessions:
    def __init__(self, log, lanes):
        self.log, self.lanes = log, lanes

    def __iter__(self):
        """(heard, next, fresh): `fresh` marks the lanes that have just begun a session."""
        current = np.arange(self.lanes)
        position = np.zeros(self.lanes, dtype=int)
        waiting = self.lanes
        fresh = np.ones(self.lanes, dtype=bool)
        while True:
            heard = [self.log[s][p] for s, p in zip(current, position)]
            following = [self.log[s][p + 1] for s, p in zip(current, position)]
            yield torch.tensor(heard), torch.tensor(following), torch.from_numpy(fresh.copy())
            position += 1
            fresh[:] = False
            for lane in range(self.lanes):
                if position[lane] + 1 >= len(self.log[current[lane]]):
                    if waiting >= len(self.log):
                        return
                    current[lane], position[lane], fresh[lane] = waiting, 0, True
                    waiting += 1


class SessionGRU(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.look = nn.Embedding(PROGRAMMES, hidden)
        self.gru = nn.GRU(hidden, hidden)
        self.score = nn.Linear(hidden, PROGRAMMES)

    def forward(self, heard, hidden):
        out, hidden = self.gru(self.look(heard).unsqueeze(0), hidden)  # expect: place
        return self.score(out.squeeze(0)), hidden  # expect: place


def top1(logits, following):
    """The other lanes' programmes serve as negatives."""
    scores = logits[:, following]
    gap = scores - scores.diag().unsqueeze(1)
    return (torch.sigmoid(gap) + torch.sigmoid(scores ** 2)).mean()


def restart(hidden, fresh):
    """Blank the memory of lanes whose listener is a new one."""
    return hidden * (~fresh).float().view(1, -1, 1)  # expect: place


def train(net, optimizer, stream, width):
    net.train()
    losses = []
    hidden = torch.zeros(1, stream.lanes, width)
    for heard, following, fresh in stream:
        hidden = restart(hidden, fresh)  # expect: place
        logits, hidden = net(heard, hidden)  # expect: place
        loss = top1(logits, following)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        losses.append(loss.item())
    return np.mean(losses)


@torch.no_grad()
def recall(net, stream, width, k=5):
    net.eval()
    hidden, hits, seen = torch.zeros(1, stream.lanes, width), 0, 0
    for heard, following, fresh in stream:
        logits, hidden = net(heard, restart(hidden, fresh))
        hits += (logits.topk(k).indices == following.unsqueeze(1)).any(1).sum().item()
        seen += len(following)
    return hits / seen


if __name__ == "__main__":
    args = parser.parse_args([])
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train_log, test_log = make_log(rng, 400), make_log(rng, 120)
    net = SessionGRU(args.hidden)
    optimizer = torch.optim.Adagrad(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train(net, optimizer, ParallelSessions(train_log, args.lanes), args.hidden)
        found = recall(net, ParallelSessions(test_log, args.lanes), args.hidden)
        print(f"epoch {epoch}: top1 {loss:.4f}  recall@5 {found:.3f}")
