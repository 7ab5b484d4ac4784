"""Next-frame forecasts of a lava lake; the memory runs through the whole night."""
import argparse

import torch
import torch.nn.functional as F

from camera import clips, film_night
from forecaster import LakeForecaster

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--clip-length", type=int, default=6)
parser.add_argument("--lr", type=float, default=8e-3)
parser.add_argument("--seed", type=int, default=71)
args = parser.parse_args()


def persistence(night):
    return F.mse_loss(night[:-1], night[1:]).item()


@torch.no_grad()
def forecast_error(model, night):
    with model.aside():
        guesses = torch.stack([model(frame) for frame in night[:-1]])
    return F.mse_loss(guesses, night[1:]).item()


def train_on_clip(model, optimizer, frames, following):
    error = 0.0
    for frame, after in zip(frames, following):
        error = error + F.mse_loss(model(frame), after)
    error = error / len(frames)
    optimizer.zero_grad()
    error.backward(retain_graph=True)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return error.item()


torch.manual_seed(args.seed)
nights = [film_night(31) for _ in range(3)]
held_out = film_night(25)
model = LakeForecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
best, best_weights = float("inf"), None

for epoch in range(args.epochs):
    errors = []
    for night in nights:
        model.forget()
        for number, (frames, following) in enumerate(clips(night, args.clip_length)):
            errors.append(train_on_clip(model, optimizer, frames, following))
            if number == 2:
                score = forecast_error(model, held_out)
                if score < best:
                    best = score
                    best_weights = {k: v.clone() for k, v in model.state_dict().items()}
    print(f"epoch {epoch}: clips {sum(errors) / len(errors):.4f}, held out {best:.4f} "
          f"(persistence {persistence(held_out):.4f})")

model.load_state_dict(best_weights)
print("best again:", round(forecast_error(model, held_out), 4))
