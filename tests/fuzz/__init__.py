"""Hostile input: generators of it, what must be true of every answer, and the campaign that tries very many.

A generator is a module with `made(seed)`, which gives an input as JSON has it, and `tried(given, folder)`, which says
whether it was accepted. Whatever `tried` raises besides a refusal of debandit's is a trouble.
"""
