f1_score = None
