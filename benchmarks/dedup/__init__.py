"""Measures how well reworded lessons are found again."""
