"""Sentiment of made up reviews: attention pooling, with callbacks around the training loop."""
import copy

import numpy as np
import torch
import torch.nn as nn

PAD, VOCAB, LENGTH = 0, 60, 14


def make_reviews(n, rng):
    tokens = rng.integers(1, VOCAB, size=(n, LENGTH))
    for row, cut in zip(tokens, rng.integers(6, LENGTH, size=n)):
        row[cut:] = PAD
    mood = np.where(tokens < 12, 1, 0) - np.where(tokens > 48, 1, 0)
    mood = np.where(tokens == PAD, 0, mood).sum(axis=1)
    return torch.from_numpy(tokens), torch.from_numpy((mood > 0).astype(np.float32))


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, 1)
        self.focus = None

    def forward(self, h, mask):
        attn = self.query(torch.tanh(h)).squeeze(-1).masked_fill(~mask, -1e9)
        attn = attn.softmax(dim=1)
        self.focus = attn.detach()
        return (attn.unsqueeze(-1) * h).sum(dim=1)


class ReviewNet(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.pool = AttentionPool(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, tokens):
        e = self.embed(tokens)
        h = torch.relu(self.conv(e.transpose(1, 2))).transpose(1, 2) + e
        return self.out(self.pool(h, tokens != PAD)).squeeze(-1)


class Callback:
    def on_epoch_end(self, loop, epoch, loss):
        pass


class Printer(Callback):
    def on_epoch_end(self, loop, epoch, loss):
        print(f"[{epoch}] loss {loss:.4f}")


class KeepBest(Callback):
    def __init__(self, patience=3):
        self.best_loss, self.best_model = float("inf"), None
        self.patience, self.bad = patience, 0

    def on_epoch_end(self, loop, epoch, loss):
        if loss < self.best_loss:
            self.best_loss, self.bad = loss, 0
            self.best_model = copy.deepcopy(loop.model)
        else:
            self.bad += 1
            loop.stop = self.bad >= self.patience


class Loop:
    def __init__(self, model, callbacks, lr=5e-3):
        self.model, self.callbacks, self.stop = model, callbacks, False
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.BCEWithLogitsLoss()

    def run(self, x, y, epochs, batch=50):
        for epoch in range(epochs):
            losses = []
            for idx in torch.randperm(len(x)).split(batch):
                self.opt.zero_grad()
                loss = self.loss_fn(self.model(x[idx]), y[idx])
                loss.backward()
                self.opt.step()
                losses.append(loss.item())
            for cb in self.callbacks:
                cb.on_epoch_end(self, epoch, float(np.mean(losses)))
            if self.stop:
                break


if __name__ == "__main__":
    torch.manual_seed(9)
    rng = np.random.default_rng(9)
    x, y = make_reviews(300, rng)
    keeper = KeepBest()
    Loop(ReviewNet(), [Printer(), keeper]).run(x, y, epochs=5)
    with torch.no_grad():
        x_new, y_new = make_reviews(100, rng)
        hits = ((keeper.best_model(x_new) > 0).float() == y_new).float().mean()
        top = keeper.best_model.pool.focus.argmax(dim=1)
    print("accuracy", round(hits.item(), 3), "most looked at", top[:5].tolist())
