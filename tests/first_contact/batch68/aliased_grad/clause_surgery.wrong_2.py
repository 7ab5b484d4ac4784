"""Two annotation tasks on contract clauses (topic, risk), trained with projected gradients."""
from itertools import permutations

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = {w: i for i, w in enumerate(
    "the party shall may not indemnify terminate notice liable damages confidential law "
    "governed breach payment days warranty assign consent waive cap unlimited".split())}
TOPICS, RISKS = 4, 2


class ClauseEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.EmbeddingBag(len(VOCAB), dim, mode="mean")
        self.dense = nn.Linear(dim, dim)
        self.topic = nn.Linear(dim, TOPICS)
        self.risk = nn.Linear(dim, RISKS)

    def forward(self, tokens):
        h = torch.tanh(self.dense(self.embed(tokens)))
        return self.topic(h), self.risk(h)


class SurgeryOptimizer:
    """Wraps an optimizer: drops the part of a task's gradient that works against another task."""

    def __init__(self, inner):
        self.inner = inner
        self.params = [p for g in inner.param_groups for p in g["params"]]

    def task_gradients(self, losses):
        per_task = []
        self.inner.zero_grad(set_to_none=False)
        for i, loss in enumerate(losses):
            # zeros rather than None: heads of the other task must have a gradient to pack
            loss.backward(retain_graph=i < len(losses) - 1)
            grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.params]
            per_task.append(grads)
        return per_task

    def step(self, losses):
        per_task = self.task_gradients(losses)
        shapes = [p.shape for p in self.params]
        packed = [torch.cat([g.flatten() for g in grads]) for grads in per_task]
        fixed = [g.clone() for g in packed]
        conflicts = 0
        for i, j in permutations(range(len(packed)), 2):
            dot = torch.dot(fixed[i], packed[j])
            if dot < 0:
                conflicts += 1
                fixed[i] -= dot / packed[j].norm() ** 2 * packed[j]
        merged = torch.stack(fixed).sum(dim=0)
        for p, chunk, shape in zip(self.params, merged.split([s.numel() for s in shapes]), shapes):
            p.grad = chunk.view(shape).clone()
        self.inner.step()
        return conflicts


def draw_clauses(n, length=12):
    tokens = torch.randint(0, len(VOCAB), (n, length))
    topic = (tokens[:, :4].sum(1) // 6) % TOPICS
    risk = ((tokens == VOCAB["unlimited"]) | (tokens == VOCAB["liable"])).any(1).long()
    return tokens, topic, risk


def main():
    torch.manual_seed(31)
    model = ClauseEncoder()
    surgeon = SurgeryOptimizer(torch.optim.Adam(model.parameters(), lr=1e-2))
    for epoch in range(4):
        total, clashes = torch.zeros(2), 0
        for _ in range(8):
            tokens, topic, risk = draw_clauses(32)
            topic_logits, risk_logits = model(tokens)
            losses = [F.cross_entropy(topic_logits, topic), F.cross_entropy(risk_logits, risk)]
            clashes += surgeon.step(losses)
            total += torch.stack(losses).detach()
        topic_loss, risk_loss = (total / 8).tolist()
        print(f"epoch {epoch}  topic {topic_loss:.3f}  risk {risk_loss:.3f}  conflicts {clashes}")


if __name__ == "__main__":
    main()
