"""Exchanges that carry each other on, found by their content, and the rules over such pairs.

`gathering` keeps what rules compare, `answers` what an answer said, `requests` what a request
repeats, `finder` links the two, `comparisons` judges what is linked.
"""
