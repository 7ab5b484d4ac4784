"""REINFORCE for the snowplough of a small town, one shift after the other."""
import numpy as np
import torch

from driver import Driver
from street import Street


def work(driver, street):
    view, over, total = street.reset(), False, 0.0
    while not over:
        action, log_prob, entropy = driver.act(view)
        view, reward, over = street.step(action)
        driver.remember(log_prob, entropy, reward)
        total += reward
    return total


def drill(driver, street, shifts=3):
    """How the driver does when it does not explore."""
    totals = []
    for _ in range(shifts):
        view, over, total = street.reset(), False, 0.0
        while not over:
            action, *_ = driver.act(view, greedy=True)
            view, reward, over = street.step(action)
            total += reward
        totals.append(total)
    return np.mean(totals)


def main(shifts=120):
    torch.manual_seed(6)
    street, town = Street(seed=6), Street(seed=7)
    driver = Driver()
    delays = []
    for shift in range(1, shifts + 1):
        delays.append(work(driver, street))
        loss = driver.learn()
        if shift % 40 == 0:
            print(f"shift {shift}: delay {-np.mean(delays[-40:]):.3f} loss {loss:+.3f} drill {-drill(driver, town):.3f}")


if __name__ == "__main__":
    main()
