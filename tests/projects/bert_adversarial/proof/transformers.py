import torch

AdamW = torch.optim.AdamW


def get_linear_schedule_with_warmup(optimizer, *args):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1.0)


class BertTokenizer:
    @classmethod
    def from_pretrained(cls, name):
        return lambda texts, **kwargs: {"input_ids": [[1, 2, 3] for _ in texts]}


class BertForSequenceClassification(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 2)

    @classmethod
    def from_pretrained(cls, name, num_labels):
        return cls()

    def forward(self, input_ids, labels):
        logits = self.head(torch.tanh(self.embedding(input_ids)).mean(1))

        class Output:
            loss = torch.nn.functional.cross_entropy(logits, labels)

        return Output
