"""Stateful language model whose state is a nested structure; history is cut between batches."""
import torch
import torch.nn as nn


def repackage(state):
    """New tensors without history, whatever the container."""
    if torch.is_tensor(state):
        return state.detach()
    if isinstance(state, dict):
        return {k: repackage(v) for k, v in state.items()}
    return type(state)(repackage(s) for s in state)


class Mixed(nn.Module):
    def __init__(self, vocab=8, dim=14):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.fast, self.slow = nn.LSTMCell(dim, dim), nn.GRUCell(dim, dim)
        self.out = nn.Linear(2 * dim, vocab)
        self.dim = dim

    def init_state(self, batch):
        z = torch.zeros(batch, self.dim)
        return {"fast": (z, z.clone()), "slow": [z.clone()]}

    def forward(self, tokens, state):
        fast, (slow,) = state["fast"], state["slow"]
        logits = []
        for t, tok in enumerate(tokens.unbind(1)):
            e = self.emb(tok)
            fast = self.fast(e, fast)
            if t % 2 == 0:
                slow = self.slow(fast[0], slow)
            logits.append(self.out(torch.cat([fast[0], slow], dim=-1)))
        return torch.stack(logits, 1), {"fast": fast, "slow": [slow]}


torch.manual_seed(5)
model = Mixed()
opt = torch.optim.Adam(model.parameters(), lr=0.02)
data = (torch.arange(97)[None] * torch.tensor([[1], [3], [5]]) + torch.tensor([[0], [1], [2]])) % 8

for epoch in range(3):
    state, total = model.init_state(3), 0.0
    for i in range(0, 96, 8):
        state = repackage(state)
        logits, state = model(data[:, i:i + 8], state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), data[:, i + 1:i + 9].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 12:.3f}")
