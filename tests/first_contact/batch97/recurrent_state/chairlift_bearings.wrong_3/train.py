"""Online training of the wear estimator over the stations of one valley."""
import torch
import torch.nn.functional as F

from drives import Fleet
from listener import StationBook, WearListener

STATIONS = ["Alpjoch", "Drei Seen", "Gfell", "Hinterboden", "Karlift", "Mutta", "Stafel", "Wildi"]
CONFIG = dict(length=12, size=3, batches=25, width=12, lr=5e-3, clip=1.0)


class OnlineTrainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
        self.book = StationBook(config["width"])
        self.errors = []

    def learn(self, names, window, wear):
        memory = torch.zeros(len(names), self.config["width"])
        estimate, memory = self.model(window, memory)
        loss = F.smooth_l1_loss(estimate, wear, beta=0.1)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config["clip"])
        self.optimizer.step()
        self.book.note(names, memory)
        self.errors.append((estimate[:, -1] - wear[:, -1]).abs().mean().item())

    @torch.no_grad()
    def audit(self, fleet):
        """A cold start on stations that were never seen, twenty windows each."""
        book = StationBook(self.config["width"])
        for names, window, wear in fleet.reports(20, 2):
            estimate, memory = self.model(window, book.open(names))
            book.note(names, memory)
        return (estimate - wear).abs().mean().item()


def main():
    torch.manual_seed(61)
    model = WearListener(CONFIG["width"])
    trainer = OnlineTrainer(model, CONFIG)
    season = Fleet(STATIONS, CONFIG["length"], seed=61)
    for day in range(3):
        for names, window, wear in season.reports(CONFIG["batches"], CONFIG["size"]):
            trainer.learn(names, window, wear)
        recent = trainer.errors[-CONFIG["batches"]:]
        print(f"day {day}: error {sum(recent) / len(recent):.3f} "
              f"audit {trainer.audit(Fleet(['Neu 1', 'Neu 2'], 12, seed=day)):.3f}")
        trainer.book.forget(STATIONS[day])  # its sensor is replaced overnight
    print("visits", trainer.book.visits)


if __name__ == "__main__":
    main()
