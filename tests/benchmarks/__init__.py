"""Measurements: candidates take turns in one process or as processes; ratios, never seconds."""
