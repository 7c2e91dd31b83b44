"""The only code that numba compiles: it plays rounds, and adds what they yield to the statistics of each run."""
