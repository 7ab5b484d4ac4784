# expect: pattern = per-sample-loop
# expect: also = step-between-backwards
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = logps, logp
# Fine-tune a tiny SMILES generator with REINFORCE.
# The score is a stand-in for QED: balanced brackets, some hetero atoms, not too long.
import torch
from torch import nn

torch.manual_seed(4)

TOKENS = ["^", "$", "C", "N", "O", "(", ")", "=", "F"]
START, END = 0, 1
MAX_LEN = 14


class Generator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.hidden = hidden
        self.emb = nn.Embedding(len(TOKENS), 16)
        self.cell = nn.GRUCell(16, hidden)
        self.out = nn.Linear(hidden, len(TOKENS))

    def sample(self, n):
        """returns token ids (n, MAX_LEN) and the log-likelihood of each molecule (n,)"""
        h = torch.zeros(n, self.hidden)
        tok = torch.full((n,), START)
        done = torch.zeros(n, dtype=torch.bool)
        ids, logps = [], torch.zeros(n)
        for _ in range(MAX_LEN):
            h = self.cell(self.emb(tok), h)
            dist = torch.distributions.Categorical(logits=self.out(h))
            h = h.detach()
            tok = dist.sample()
            tok = torch.where(done, torch.full_like(tok, END), tok)
            logps = logps + torch.where(done, torch.zeros(n), dist.log_prob(tok))
            done = done | (tok == END)
            ids.append(tok)
        return torch.stack(ids, dim=1), logps


def to_smiles(row):
    text = ""
    for t in row.tolist():
        if t == END:
            break
        text += TOKENS[t]
    return text


def score(smiles):
    if not smiles or "^" in smiles:
        return 0.0
    depth = 0
    for ch in smiles:
        depth += (ch == "(") - (ch == ")")
        if depth < 0:
            return 0.1
    if depth != 0:
        return 0.1
    hetero = sum(smiles.count(a) for a in "NOF") / len(smiles)
    return 0.5 + 0.5 * (1 - abs(hetero - 0.3)) - 0.02 * abs(len(smiles) - 7)


agent = Generator()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
baseline = 0.2
n_mols = 16

for step in range(8):
    ids, logps = agent.sample(n_mols)  # expect: place
    rewards = []
    losses = []
    for row, logp in zip(ids, logps):
        reward = score(to_smiles(row))
        losses.append(-(reward - baseline) * logp)
        rewards.append(reward)
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()
    mean_reward = sum(rewards) / n_mols
    baseline = 0.9 * baseline + 0.1 * mean_reward
    print(f"step {step:3d}  reward {mean_reward:.3f}  e.g. {to_smiles(ids[0])}")
