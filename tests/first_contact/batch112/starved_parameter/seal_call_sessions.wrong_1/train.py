"""Class-incremental learning of seal colonies from their calls, with exemplars and distillation."""
import torch

from learner import SessionLearner
from network import ColonyNet
from recordings import BANDS, SESSIONS, hear


def main():
    torch.manual_seed(20)
    net = ColonyNet(BANDS)
    learner = SessionLearner(net)
    heard = []
    for number, colonies in enumerate(SESSIONS):
        heard += colonies
        x, y = hear(colonies, 60, seed=number)
        learner.begin(len(colonies))
        last = learner.study(x, y, epochs=6)
        learner.end(x, y)
        score = learner.accuracy(*hear(heard, 40, seed=100 + number))
        print(f"session {number}: {net.known} colonies, loss {last:.3f}, accuracy on all so far {score:.3f}")


if __name__ == "__main__":
    main()
