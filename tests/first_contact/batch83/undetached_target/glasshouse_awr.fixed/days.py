import torch


class DayBook:
    """Days of one plan of venting, as advantage-weighted regression wants them."""

    def __init__(self, gamma=0.95, lam=0.8):
        self.gamma, self.lam = gamma, lam
        self.pages = []

    @torch.no_grad()
    def live_through(self, house, actor, critic, hours):
        state = house.dawn()
        day = {"state": [], "opening": [], "reward": [], "worth": []}
        for _ in range(hours):
            opening = actor.sample(state)
            day["state"].append(state)
            day["opening"].append(opening)
            day["worth"].append(critic(state).squeeze(-1))  # expect: place
            state, reward = house.vent(opening)
            day["reward"].append(reward)
        day["worth"].append(critic(state).squeeze(-1))  # expect: place
        self.pages.append(self._closed(day))

    def _closed(self, day):
        """TD(lambda): what each hour turned out to be worth."""
        worth, reward = day["worth"], day["reward"]
        total = worth[-1]
        told = []
        for t in reversed(range(len(reward))):
            ahead = (1 - self.lam) * worth[t + 1] + self.lam * total  # expect: place
            total = reward[t] + self.gamma * ahead  # expect: place
            told.append(total)  # expect: place
        told.reverse()
        return torch.cat(day["state"]), torch.cat(day["opening"]), torch.cat(told)  # expect: place

    def shuffled(self, size):
        columns = [torch.cat(column) for column in zip(*self.pages)]  # expect: place
        for rows in torch.randperm(len(columns[0])).split(size):
            yield [column[rows] for column in columns]  # expect: place

    def burn(self):
        self.pages.clear()
