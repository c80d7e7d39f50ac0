"""Baselines: which violations are expected of which target, and why.

Rule 1: an entry describes a FAIL. While the rule fails like that, the violation is expected;
otherwise (it passes, it cannot be judged, another finding came, the date is past, nothing has that
name) the entry is stale and fails the run.
Rule 2: a violation that no entry lists fails the run, whatever its level.
Rule 3: an ERROR and a file that cannot be read are never excused.
"""
