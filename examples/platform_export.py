"""A platform's export: users and conversions per day and variant, under a rule that the platform documents.

days.csv is simulated. Say that it comes from Amplitude, with a confidence level of 99 %.
"""

import warnings

import debandit as db
from debandit.errors import PresetWarning

# A preset warns of what the platform does not state. Read it once; here we leave it out.
warnings.simplefilter("ignore", PresetWarning)
rule = "preset:amplitude(share=0.99)"

# The rule learns once per day, so the days are its batches.
log = db.read_log("days.csv", arm="variant", pulls="users", successes="conversions", batch="day")
print(db.check(log, rule), "\n")

result = db.debias(log, rule, control="long_form")
print(result)

# One file for people who decide, one for programs, and a picture.
result.to_json("days.json")
result.plot("days.svg")
