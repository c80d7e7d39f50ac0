"""Exchanges that carry each other on, told by what they say, and the rules over such pairs.

`gathering` keeps what rules compare, `answers` what an answer said, `requests` what a request
repeats, `finder` links the two, `comparisons` judges what is linked.
"""
