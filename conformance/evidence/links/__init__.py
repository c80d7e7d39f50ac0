"""Exchanges that continue each other, found by their content, and the rules over such pairs.

`gathering` collects the values that rules compare, `answers` the content of an answer, `requests`
what a request repeats of it; `finder` links the two, `comparisons` judges the links.
"""
