"""Periods of an experiment that move the means of all arms: days of the week, campaigns, a trend."""
