# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = cx, hx, state
# LSTM actor-critic: short rollouts, an update after each, hidden state kept within the episode.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(100)


class LSTMAgent(nn.Module):
    def __init__(self, n_obs=4, n_act=2, n_hid=12):
        super().__init__()
        self.lstm = nn.LSTMCell(n_obs, n_hid)
        self.policy, self.value = nn.Linear(n_hid, n_act), nn.Linear(n_hid, 1)

    def forward(self, obs, hx, cx):
        hx, cx = self.lstm(obs, (hx, cx))
        return self.policy(hx), self.value(hx).squeeze(-1), hx, cx


class ToyEnv:
    def reset(self):
        self.t, self.s = 0, torch.randn(1, 4)
        return self.s

    def step(self, action):
        reward = float(action == int(self.s.sum() > 0))
        self.t, self.s = self.t + 1, 0.8 * self.s + 0.2 * torch.randn(1, 4)
        return self.s, reward, self.t >= 12


env, agent = ToyEnv(), LSTMAgent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
obs, done = env.reset(), True
for update in range(6):
    if done:
        hx, cx = torch.zeros(1, 12), torch.zeros(1, 12)
    values, log_probs, rewards = [], [], []
    for _ in range(4):
        logits, value, hx, cx = agent(obs, hx, cx)  # expect: place
        action = torch.multinomial(F.softmax(logits, -1), 1)
        log_probs.append(F.log_softmax(logits, -1).gather(1, action).squeeze())
        obs, reward, done = env.step(action.item())
        values.append(value.squeeze())
        rewards.append(reward)
        if done:
            obs = env.reset()
            break
    R = torch.zeros(()) if done else agent(obs, hx, cx)[1].detach().squeeze()
    loss = torch.zeros(())
    for value, log_prob, reward in zip(values[::-1], log_probs[::-1], rewards[::-1]):
        R = reward + 0.95 * R
        advantage = R - value
        loss = loss - log_prob * advantage.detach() + 0.5 * advantage.pow(2)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
