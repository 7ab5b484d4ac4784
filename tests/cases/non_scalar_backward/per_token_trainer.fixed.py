import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr)
        self.ce = nn.CrossEntropyLoss(reduction="none")

    def compute_loss(self, batch):
        tokens, mask = batch
        logits = self.model(tokens[:, :-1])
        per_token = self.ce(logits.transpose(1, 2), tokens[:, 1:])
        return per_token * mask[:, 1:]

    def training_step(self, batch):
        loss = self.compute_loss(batch).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.detach().mean()


torch.manual_seed(0)
vocab = 9
lm = nn.Sequential(nn.Embedding(vocab, 8), nn.Linear(8, vocab))
trainer = Trainer(lm)
for _ in range(3):
    t = torch.randint(0, vocab, (4, 7))
    print(trainer.training_step((t, torch.ones(4, 7))))
