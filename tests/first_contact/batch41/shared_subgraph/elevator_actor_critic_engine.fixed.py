"""Where should the empty elevator wait? Actor-critic with one body and two heads, on my own
autograd in NumPy (no torch at work). The bandit version without critic ran."""
import numpy as np

rng = np.random.RandomState(14)


class Tensor:
    def __init__(self, data, parents=(), grad_fn=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.parents = parents
        self.grad_fn = grad_fn
        self.freed = False

    @property
    def is_leaf(self):
        return self.grad_fn is None and not self.freed

    def zero_grad(self):
        self.grad = np.zeros_like(self.data)

    def detach(self):
        return Tensor(self.data)

    def backward(self, keep_graph=False):
        order, visited = [], set()

        def visit(node):
            if id(node) in visited:
                return
            visited.add(id(node))
            for parent in node.parents:
                visit(parent)
            order.append(node)

        visit(self)
        for node in order:
            if node.freed:
                raise RuntimeError("this part of the graph was already differentiated and freed")
            if not node.is_leaf:
                node.zero_grad()
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            if node.is_leaf:
                continue
            node.grad_fn(node.grad)
            if not keep_graph:
                node.parents, node.grad_fn, node.freed = (), None, True

    def __add__(self, other):
        def grad_fn(g):
            for t in (self, other):
                t.grad += g.sum(0) if t.data.ndim < g.ndim else g
        return Tensor(self.data + other.data, (self, other), grad_fn)

    def __sub__(self, other):
        return self + other * -1.0

    def __mul__(self, c):
        """by a constant: number or array"""
        def grad_fn(g):
            self.grad += g * c
        return Tensor(self.data * c, (self,), grad_fn)

    def __matmul__(self, other):
        def grad_fn(g):
            self.grad += g @ other.data.T
            other.grad += self.data.T @ g
        return Tensor(self.data @ other.data, (self, other), grad_fn)

    def relu(self):
        def grad_fn(g):
            self.grad += g * (self.data > 0)
        return Tensor(np.maximum(self.data, 0), (self,), grad_fn)

    def square(self):
        def grad_fn(g):
            self.grad += 2 * g * self.data
        return Tensor(self.data ** 2, (self,), grad_fn)

    def mean(self):
        def grad_fn(g):
            self.grad += g * np.ones_like(self.data) / self.data.size
        return Tensor(self.data.mean(), (self,), grad_fn)

    def log_softmax(self):
        z = self.data - self.data.max(1, keepdims=True)
        out = z - np.log(np.exp(z).sum(1, keepdims=True))

        def grad_fn(g):
            self.grad += g - np.exp(out) * g.sum(1, keepdims=True)
        return Tensor(out, (self,), grad_fn)


class Dense:
    def __init__(self, n_in, n_out):
        self.w = Tensor(rng.randn(n_in, n_out) * np.sqrt(2.0 / n_in))
        self.b = Tensor(np.zeros(n_out))

    def __call__(self, x):
        return x @ self.w + self.b


class ActorCritic:
    def __init__(self, n_obs, n_floors, hidden=16):
        self.body = Dense(n_obs, hidden)
        self.actor = Dense(hidden, n_floors)
        self.critic = Dense(hidden, 1)

    def parameters(self):
        return [t for layer in (self.body, self.actor, self.critic) for t in (layer.w, layer.b)]

    def __call__(self, obs):
        features = self.body(obs).relu()
        return self.actor(features).log_softmax(), self.critic(features)


class Building:
    """Calls come from below in the morning, from above in the evening."""

    n_floors = 5

    def draw(self, n):
        hour = rng.uniform(7, 19, size=n)
        weekday = (rng.rand(n) < 0.7).astype(float)
        return np.stack([(hour - 13) / 6, weekday, np.ones(n)], axis=1)

    def reward(self, obs, floor):
        call = np.clip(np.round(2 + 2 * obs[:, 0] * obs[:, 1] + 0.7 * rng.randn(len(obs))), 0, self.n_floors - 1)
        return -np.abs(call - floor)


def train(steps=60, batch=32, lr=0.05):
    env = Building()
    net = ActorCritic(3, env.n_floors)
    for step in range(steps):
        obs = env.draw(batch)
        logp, value = net(Tensor(obs))
        floors = np.array([rng.choice(env.n_floors, p=np.exp(row)) for row in logp.data])
        reward = env.reward(obs, floors)

        chosen = np.zeros_like(logp.data)
        chosen[np.arange(batch), floors] = reward - value.data[:, 0]
        policy_loss = (logp * chosen).mean() * (-float(env.n_floors))
        value_loss = (value - Tensor(reward[:, None])).square().mean() * 0.5

        for p in net.parameters():
            p.zero_grad()
        (policy_loss + value_loss).backward()
        for p in net.parameters():
            p.data -= lr * p.grad
        if step % 15 == 0:
            print("step %2d  reward %.3f  value loss %.3f" % (step, reward.mean(), float(value_loss.data)))
    return net


if __name__ == "__main__":
    net = train()
    test = np.array([[-0.8, 1, 1], [0.8, 1, 1], [0.0, 0, 1]])
    print("wait at floors", net(Tensor(test))[0].data.argmax(1))
