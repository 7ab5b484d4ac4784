# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = mastery
"""Knowledge tracing with an explicit mastery table (student x skill x d).

At each interaction we read the row of the practised skill, predict the answer, and write the
updated row back.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

CFG = dict(n_skill=7, d=10, n_student=40, length=12, batch=10, epochs=6, lr=0.02, seed=19)


def simulate_responses(cfg, gen):
    """students who get better at a skill each time that they practise it"""
    n, T, K = cfg["n_student"], cfg["length"], cfg["n_skill"]
    skill = torch.randint(0, K, (n, T), generator=gen)
    level = torch.randn(n, K, generator=gen)
    answer = torch.zeros(n, T)
    for t in range(T):
        s = skill[:, t]
        p = torch.sigmoid(2.5 * level[torch.arange(n), s])
        answer[:, t] = (torch.rand(n, generator=gen) < p).float()
        level[torch.arange(n), s] += 0.5
    return skill, answer


class MasteryTracer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["d"]
        self.initial = nn.Parameter(0.1 * torch.randn(cfg["n_skill"], d))
        self.query = nn.Embedding(cfg["n_skill"], d)
        self.answer = nn.Embedding(2, d)
        self.erase = nn.Linear(2 * d, d)
        self.write = nn.Linear(2 * d, d)
        self.readout = nn.Sequential(nn.Linear(2 * d, d), nn.Tanh(), nn.Linear(d, 1))

    def forward(self, skill, answer):
        B, T = skill.shape
        rows = torch.arange(B)
        mastery = self.initial.expand(B, -1, -1).clone()
        logits = []
        for t in range(T):
            s = skill[:, t]
            q = self.query(s)
            # attention over all skills, so that related skills help each other
            att = torch.softmax(torch.einsum("bkd,bd->bk", mastery, q), dim=1)  # expect: place
            related = torch.einsum("bk,bkd->bd", att, mastery)  # expect: place
            logits.append(self.readout(torch.cat([related, q], -1)).squeeze(-1))

            row = mastery[rows, s]
            info = torch.cat([row, self.answer(answer[:, t].long())], -1)
            gate = torch.sigmoid(self.erase(info))
            mastery[rows, s] = (1 - gate) * row + gate * torch.tanh(self.write(info))  # expect: place
        return torch.stack(logits, dim=1)


def evaluate(model, skill, answer):
    model.eval()
    with torch.no_grad():
        guess = (model(skill, answer) > 0).float()
    model.train()
    return (guess == answer).float().mean().item()


def main(cfg):
    gen = torch.Generator().manual_seed(cfg["seed"])
    torch.manual_seed(cfg["seed"])
    skill, answer = simulate_responses(cfg, gen)
    model = MasteryTracer(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        losses = []
        for idx in torch.randperm(cfg["n_student"], generator=gen).split(cfg["batch"]):
            logits = model(skill[idx], answer[idx])
            loss = F.binary_cross_entropy_with_logits(logits, answer[idx])
            opt.zero_grad()
            loss.backward()  # expect: place
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: bce {sum(losses) / len(losses):.4f} acc {evaluate(model, skill, answer):.3f}")


main(CFG)
