"""Files of rules and profiles, linted."""
