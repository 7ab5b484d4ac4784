import numpy as np
import torch as T
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class LandingEnv:
    """A pod falls; action 0 = drift, 1 = left engine, 2 = right engine, 3 = brake."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.observation_dim = 4
        self.n_actions = 4

    def reset(self):
        self.state = np.array([self.rng.uniform(-1, 1), 1.0, 0.0, 0.0])
        self.steps = 0
        return self.state.astype(np.float32)

    def step(self, action):
        x, y, vx, vy = self.state
        vx += {1: -0.1, 2: 0.1}.get(action, 0.0)
        vy += 0.09 if action == 3 else -0.03
        x, y = x + 0.1 * vx, y + 0.1 * vy
        self.state = np.array([x, y, vx, vy])
        self.steps += 1
        landed = y <= 0
        done = landed or self.steps >= 60
        reward = -0.01 * abs(x) - 0.01
        if landed:
            reward += 1.0 - abs(x) - 2 * abs(vy)
        return self.state.astype(np.float32), reward, done, {}


class PolicyNetwork(nn.Module):
    def __init__(self, lr, input_dims, n_actions, fc1_dims=64, fc2_dims=32):
        super(PolicyNetwork, self).__init__()
        self.fc1 = nn.Linear(input_dims, fc1_dims)
        self.fc2 = nn.Linear(fc1_dims, fc2_dims)
        self.pi = nn.Linear(fc2_dims, n_actions)
        self.optimizer = optim.Adam(self.parameters(), lr=lr)
        self.device = T.device('cuda:0' if T.cuda.is_available() else 'cpu')
        self.to(self.device)

    def forward(self, state):
        x = F.relu(self.fc1(state))
        x = F.relu(self.fc2(x))
        return self.pi(x)


class Agent:
    def __init__(self, lr, input_dims, gamma=0.99, n_actions=4):
        self.gamma = gamma
        self.lr = lr
        self.reward_memory = []
        self.log_prob_memory = []
        self.policy = PolicyNetwork(self.lr, input_dims, n_actions)

    def choose_action(self, observation):
        state = T.from_numpy(observation).to(self.policy.device)
        probabilities = F.softmax(self.policy(state), dim=-1)
        action_probs = T.distributions.Categorical(probabilities)
        action = action_probs.sample()
        self.log_prob_memory.append(action_probs.log_prob(action))
        return action.item()

    def store_reward(self, reward):
        self.reward_memory.append(reward)

    def discounted_returns(self):
        G = np.zeros(len(self.reward_memory), dtype=np.float32)
        running = 0.0
        for t in reversed(range(len(self.reward_memory))):
            running = self.reward_memory[t] + self.gamma * running
            G[t] = running
        return (G - G.mean()) / (G.std() + 1e-6)

    def learn(self):
        self.policy.optimizer.zero_grad()
        G = T.tensor(self.discounted_returns(), dtype=T.float).to(self.policy.device)
        log_probs = T.tensor(self.log_prob_memory, dtype=T.float, requires_grad=True).to(self.policy.device)
        loss = -(G * log_probs).mean()
        loss.backward()
        self.policy.optimizer.step()

        self.log_prob_memory = []
        self.reward_memory = []


if __name__ == '__main__':
    T.manual_seed(7)
    env = LandingEnv(seed=7)
    agent = Agent(lr=0.003, input_dims=env.observation_dim, gamma=0.99, n_actions=env.n_actions)
    n_games = 12
    scores = []

    for i in range(n_games):
        done = False
        observation = env.reset()
        score = 0
        while not done:
            action = agent.choose_action(observation)
            observation_, reward, done, info = env.step(action)
            score += reward
            agent.store_reward(reward)
            observation = observation_
        agent.learn()
        scores.append(score)

        avg_score = np.mean(scores[-100:])
        print('episode ', i, 'score %.2f' % score, 'average score %.2f' % avg_score)
