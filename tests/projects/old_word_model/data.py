import os
import torch


class Dictionary(object):
    def __init__(self):
        self.word2idx = {}

    def add_word(self, word):
        if not self.word2idx.has_key(word):
            self.word2idx[word] = len(self.word2idx)
        return self.word2idx[word]

    def __len__(self):
        return len(self.word2idx)


class Corpus(object):
    def __init__(self, path):
        self.dictionary = Dictionary()
        self.train = self.tokenize(os.path.join(path, 'train.txt'))

    def tokenize(self, path):
        assert os.path.exists(path)
        ids = []
        with open(path, 'r') as f:
            for line in f:
                for word in line.split() + ['<eos>']:
                    ids.append(self.dictionary.add_word(word))
        return torch.LongTensor(ids)
