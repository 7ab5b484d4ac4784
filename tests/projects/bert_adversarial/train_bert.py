import pandas as pd
import torch
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset
from transformers import AdamW, BertForSequenceClassification, BertTokenizer, get_linear_schedule_with_warmup

frame = pd.read_csv("data/reviews.csv")
texts, labels = frame["review"].astype(str).tolist(), frame["label"].tolist()
train_x, test_x, train_y, test_y = train_test_split(texts, labels, test_size=0.2, random_state=7)
tokenizer = BertTokenizer.from_pretrained("bert-base-uncased")


class Reviews(Dataset):
    def __init__(self, texts, labels):
        self.encodings = tokenizer(texts, truncation=True, padding=True, max_length=32)
        self.labels = labels

    def __getitem__(self, idx):
        item = {key: torch.tensor(val[idx]) for key, val in self.encodings.items()}
        item["labels"] = torch.tensor(int(self.labels[idx]))
        return item

    def __len__(self):
        return len(self.labels)


model = BertForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
loader = DataLoader(Reviews(train_x, train_y), batch_size=8, shuffle=True)
optimizer = AdamW(model.parameters(), lr=2e-5)
scheduler = get_linear_schedule_with_warmup(optimizer, 0, len(loader) * 3)
model.train()
for epoch in range(3):
    for batch in loader:
        optimizer.zero_grad()
        outputs = model(**batch)
        loss = outputs.loss
        loss.backward()
        penalty = loss * 0.1
        penalty.backward()
        optimizer.step()
        scheduler.step()
