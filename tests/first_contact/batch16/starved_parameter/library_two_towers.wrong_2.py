"""Which book next? Readers and books in one space, trained with the other books of the batch as negatives."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

READERS, BOOKS, SHELVES = 40, 60, 6


class Loans(Dataset):
    def __init__(self, n):
        self.reader = torch.randint(0, READERS, (n,))
        shelf = (self.reader + torch.randint(0, 2, (n,))) % SHELVES
        self.book = shelf + SHELVES * torch.randint(0, BOOKS // SHELVES, (n,))

    def __len__(self):
        return len(self.reader)

    def __getitem__(self, i):
        return self.reader[i], self.book[i]


class Catalogue:
    def __init__(self):
        ids = torch.arange(BOOKS)
        self.shelf = ids % SHELVES
        self.pages = torch.rand(BOOKS, 1)

    def features(self, books):
        return self.shelf[books], self.pages[books]


class ReaderTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.table = nn.Embedding(READERS, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, reader):
        return self.mlp(self.table(reader))


class BookTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.table = nn.Embedding(BOOKS, dim)
        self.shelf = nn.Embedding(SHELVES, dim)
        self.pages = nn.Linear(1, dim)
        self.mlp = nn.Sequential(nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, book, shelf, pages):
        return self.mlp(self.table(book) + self.shelf(shelf) + self.pages(pages))


class Recommender(nn.Module):
    def __init__(self, catalogue, dim=12):
        super().__init__()
        self.catalogue = catalogue
        self.reader_tower, self.book_tower = ReaderTower(dim), BookTower(dim)
        self.log_temperature = nn.Parameter(torch.tensor(0.0))

    def embed_readers(self, readers):
        return F.normalize(self.reader_tower(readers), dim=1)

    @torch.no_grad()
    def embed_books(self, books):
        shelf, pages = self.catalogue.features(books)
        return F.normalize(self.book_tower(books, shelf, pages), dim=1)

    def scores(self, readers, books):
        return self.embed_readers(readers) @ self.embed_books(books).t() * self.log_temperature.exp()

    def training_step(self, batch):
        readers, books = batch
        logits = self.scores(readers, books)
        same = books[:, None] == books[None, :]
        logits = logits.masked_fill(same & ~torch.eye(len(books), dtype=torch.bool), -1e4)
        return F.cross_entropy(logits, torch.arange(len(books)))

    @torch.no_grad()
    def recommend(self, readers, k):
        return self.scores(readers, torch.arange(BOOKS)).topk(k, dim=1).indices


def recall(model, loans, k=10):
    model.eval()
    best = model.recommend(loans.reader, k)
    model.train()
    return (best == loans.book[:, None]).any(1).float().mean().item()


def fit(model, train, held_out, epochs=4):
    loader = DataLoader(train, batch_size=32, shuffle=True, drop_last=True)
    optimizer = torch.optim.Adam([*model.reader_tower.parameters(), model.log_temperature], lr=0.02)
    for epoch in range(epochs):
        total = 0.0
        for batch in loader:
            loss = model.training_step(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}, recall@10 {recall(model, held_out):.3f}")


def main():
    torch.manual_seed(33)
    model = Recommender(Catalogue())
    fit(model, Loans(192), Loans(64))


if __name__ == "__main__":
    main()
