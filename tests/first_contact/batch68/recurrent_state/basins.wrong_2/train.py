import torch

from data import make_basins, windows
from model import RunoffLSTM, StateBank

torch.manual_seed(2024)
WINDOW, BATCH, EPOCHS = 30, 4, 2


def nse_loss(sim, obs):
    spread = ((obs - obs.mean(dim=1, keepdim=True)) ** 2).mean(dim=1) + 0.1
    return (((sim - obs) ** 2).mean(dim=1) / spread).mean()


def run():
    forcing, flow = make_basins()
    model = RunoffLSTM()
    bank = StateBank(model.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)

    for epoch in range(EPOCHS):
        bank.clear()
        running, count = 0.0, 0
        for win in windows(forcing.shape[1], WINDOW):
            bank.cut()
            order = torch.randperm(forcing.shape[0])
            for ids in order.split(BATCH):
                state = bank.fetch(ids.tolist())
                sim, state = model(forcing[ids, win], state)
                loss = nse_loss(sim, flow[ids, win])
                opt.zero_grad()
                loss.backward(retain_graph=True)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                bank.keep(ids.tolist(), state)
                running, count = running + loss.item(), count + 1
        print(f"epoch {epoch}  1-NSE {running / count:.3f}")


if __name__ == "__main__":
    run()
