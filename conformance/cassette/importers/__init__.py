"""Recordings that other tools made."""
