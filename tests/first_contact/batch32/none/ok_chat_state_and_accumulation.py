# expect: pattern = none
"""Byte-level model of radio messages. One message at a time (they differ in length), gradients summed
over four messages, the state handed from message to message without its past."""
import torch
import torch.nn as nn


def repackage(state):
    """Hidden states in new tensors, cut from their history; works on any nesting."""
    if isinstance(state, torch.Tensor):
        return state.detach()
    return tuple(repackage(s) for s in state)


class ByteLM(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(128, width)
        self.lstm = nn.LSTM(width, width, num_layers=2)
        self.decode = nn.Linear(width, 128)
        self.decode.bias.data.zero_()

    def init_hidden(self):
        w = next(self.parameters())
        return w.new_zeros(2, 1, 24), w.new_zeros(2, 1, 24)

    def forward(self, codes, state):
        out, state = self.lstm(self.embed(codes).unsqueeze(1), state)
        return self.decode(out.squeeze(1)), state


class Trainer:
    def __init__(self, model, every=4, lr=5e-3):
        self.model, self.every = model, every
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.state = None
        self.log = {"loss": [], "bits": 0.0}

    def fit(self, messages, epochs):
        for epoch in range(epochs):
            self.state = self.model.init_hidden()
            self.optimizer.zero_grad()
            for n, codes in enumerate(messages, start=1):
                self._message(codes)
                if n % self.every == 0:
                    self._step()
            print(f"epoch {epoch}: {sum(self.log['loss'][-len(messages):]) / len(messages):.3f}")

    def _message(self, codes):
        self.state = repackage(self.state)
        logits, self.state = self.model(codes[:-1], self.state)
        loss = nn.functional.cross_entropy(logits, codes[1:])
        (loss / self.every).backward()
        self.log["loss"].append(float(loss))
        self.log["bits"] += loss.item() / 0.6931

    def _step(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
        self.optimizer.step()
        self.optimizer.zero_grad()


def main():
    torch.manual_seed(3)
    texts = ["mayday mayday", "position north of the pier", "all well aboard", "request weather",
             "wind six from the west", "returning to port", "engine stopped", "standing by on sixteen"]
    messages = [torch.tensor([ord(c) for c in t]) for t in texts]
    trainer = Trainer(ByteLM())
    trainer.fit(messages, epochs=3)
    with torch.no_grad():
        logits, _ = trainer.model(messages[0], repackage(trainer.state))
    print(repr("".join(chr(int(c)) for c in logits.argmax(1) if 31 < int(c) < 127)))


if __name__ == "__main__":
    main()
