"""Passes: work on the log that can wait. Recording pauses while a pass works, so each pass works in small steps.

``schedule.Passes`` gives each pass its share of the time. A pass continues where it stopped, also after a crash.
"""
