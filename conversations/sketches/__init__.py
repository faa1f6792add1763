"""Sketches: the working notes of a conversation, which its assistant keeps in named sections.

They are data of the assistant's own making: never read for facts, never recalled. They end with the
conversation (expiry.py), unless the owner keeps them.
"""
