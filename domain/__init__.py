"""The game of Hearts as pure functions: cards, rules, the decider, views and records.

Nothing here does I/O, reads a clock or draws a random number, and nothing here imports another floor of the house.
"""
