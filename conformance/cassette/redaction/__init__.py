"""Finds secrets, and data that is never displayed, and replaces them by stand-ins."""
