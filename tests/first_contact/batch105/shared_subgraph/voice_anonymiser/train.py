# expect: pattern = shared-subgraph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = code, loss
"""Strip the speaker out of speech codes while the words stay legible.

An eavesdropper learns to name the speaker from the code; the encoder learns to be read by the
recogniser and to fool the eavesdropper.
"""
import torch
import torch.nn.functional as F

from data import loaders
from nets import eavesdropper, encoder, recogniser


class Anonymiser:
    def __init__(self, privacy=0.3):
        self.encoder, self.recogniser, self.spy = encoder(), recogniser(), eavesdropper()
        useful = [*self.encoder.parameters(), *self.recogniser.parameters()]
        self.optimizers = {
            "useful": torch.optim.Adam(useful, lr=4e-3),
            "spy": torch.optim.Adam(self.spy.parameters(), lr=8e-3),
        }
        self.privacy = privacy
        self.history = {"words": [], "caught": []}

    def clear(self):
        for optimizer in self.optimizers.values():
            optimizer.zero_grad()

    def spy_step(self, code, who):
        loss = F.cross_entropy(self.spy(code), who)  # expect: place
        loss.backward()  # expect: place
        self.optimizers["spy"].step()
        return loss.item()

    def useful_step(self, code, said, who):
        words = F.cross_entropy(self.recogniser(code), said)
        caught = F.cross_entropy(self.spy(code), who)
        loss = words - self.privacy * caught  # expect: place
        loss.backward()  # expect: place
        self.optimizers["useful"].step()
        return words.item()

    def batch(self, frames, said, who):
        self.clear()
        code = self.encoder(frames)  # expect: place
        self.history["caught"].append(self.spy_step(code, who))  # expect: place
        self.history["words"].append(self.useful_step(code, said, who))  # expect: place

    def fit(self, train, test, epochs=5):
        for epoch in range(epochs):
            for frames, said, who in train:
                self.batch(frames, said, who)
            legible, known = self.evaluate(test)
            recent = {name: sum(kept[-16:]) / 16 for name, kept in self.history.items()}
            print(f"epoch {epoch} words {recent['words']:.3f} spy {recent['caught']:.3f} "
                  f"legible {legible:.2%} recognised {known:.2%}")

    @torch.no_grad()
    def evaluate(self, test):
        right = known = total = 0
        for frames, said, who in test:
            code = self.encoder(frames)
            right += (self.recogniser(code).argmax(1) == said).sum().item()
            known += (self.spy(code).argmax(1) == who).sum().item()
            total += len(said)
        return right / total, known / total


def main():
    torch.manual_seed(17)
    Anonymiser().fit(*loaders())


if __name__ == "__main__":
    main()
