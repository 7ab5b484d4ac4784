def unidecode(text):
    return text
