class StandardScaler:
    def fit_transform(self, x):
        return x
