"""A lock keeper learns when to open for which side (PPO, a few epochs on each watch)."""
import torch

from agent import Keeper, ppo_loss
from lock import Lock
from watch import WatchBuffer

WATCHES, LENGTH, EPOCHS, MINI = 6, 48, 3, 16


def stand_watch(lock, keeper, buffer):
    view = lock.reset()
    for _ in range(LENGTH):
        action, log_prob, value = keeper.act(view)
        after, reward = lock.open(action)
        buffer.add(view, action, log_prob, value, reward)
        view = after
    return keeper.value_of(view)


def main():
    torch.manual_seed(21)
    lock, keeper = Lock(seed=9), Keeper(views=4, actions=3)
    optimizer = torch.optim.Adam(keeper.parameters(), lr=3e-3)
    for watch in range(WATCHES):
        buffer = WatchBuffer(discount=0.95, smoothing=0.9)
        last = stand_watch(lock, keeper, buffer)
        buffer.close(last)
        for _ in range(EPOCHS):
            for batch in buffer.minibatches(MINI):
                loss = ppo_loss(keeper, batch)
                optimizer.zero_grad()
                loss.backward(retain_graph=True)
                torch.nn.utils.clip_grad_norm_(keeper.parameters(), 0.5)
                optimizer.step()
        print(f"watch {watch}: reward {buffer.mean_reward():+.3f}")


if __name__ == "__main__":
    main()
