"""Secrets, and data that is never displayed: found, and replaced by what stands in for them."""
