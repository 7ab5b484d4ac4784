TSNE = None
