import torch
import torch.nn as nn


class KalmanTracker(nn.Module):
    """Constant-velocity filter whose process and sensor noise are learnt from tracks."""

    def __init__(self, dt=1.0):
        super().__init__()
        self.register_buffer("F", torch.tensor([[1.0, dt], [0.0, 1.0]]))
        self.register_buffer("H", torch.tensor([[1.0, 0.0]]))
        self.log_q_pos = nn.Parameter(torch.tensor(0.0))
        self.log_q_vel = nn.Parameter(torch.tensor(0.0))
        self.log_r = nn.Parameter(torch.zeros(1))

    def noise(self):
        q = torch.stack([self.log_q_pos, self.log_q_vel])
        Q = torch.diag(q.exp())
        R = torch.diag(self.log_r.exp())
        return Q, R

    def forward(self, z):
        """Mean negative log-likelihood of a batch of tracks, [batch, steps]."""
        Q, R = self.noise()
        n, steps = z.shape
        x = torch.stack([z[:, 0], torch.zeros(n)], dim=1).unsqueeze(-1)
        P = torch.eye(2)
        nll = 0.0
        for k in range(1, steps):
            x = self.F @ x
            P = self.F @ P @ self.F.T + Q
            S = self.H @ P @ self.H.T + R
            y = z[:, k].view(n, 1, 1) - self.H @ x
            nll = nll + 0.5 * (y.pow(2).squeeze() / S.squeeze() + torch.log(S.squeeze()))
            K = (P @ self.H.T / S).detach()
            x = x + K @ y
            P = (torch.eye(2) - K @ self.H) @ P
        return nll.mean() / (steps - 1)


def simulate_tracks(n, steps, q_vel=0.02, r=0.5):
    pos, vel = torch.zeros(n), torch.randn(n)
    out = []
    for _ in range(steps):
        vel = vel + q_vel**0.5 * torch.randn(n)
        pos = pos + vel
        out.append(pos + r**0.5 * torch.randn(n))
    return torch.stack(out, dim=1)


def main():
    torch.manual_seed(31)
    tracks = simulate_tracks(48, 25)
    tracker = KalmanTracker()
    optimizer = torch.optim.Adam(tracker.parameters(), lr=0.1)
    for epoch in range(25):
        optimizer.zero_grad()
        loss = tracker(tracks)
        loss.backward()
        optimizer.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  nll {loss.item():.4f}")
    Q, R = tracker.noise()
    print("process noise", Q.diagonal().tolist(), "sensor noise", R.item())


main()
