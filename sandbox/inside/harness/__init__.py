"""A harness for a script that is not a whole program: what is missing is synthesized, and reported.

`reading` finds what the script does with each value that it does not define, `roles` what such a
value therefore is, `synthesized_values` makes it on demand, `driving` calls what nothing calls.
`search` finds the plan (shapes, counts, and what use does not decide) under which the script runs,
or raises the given error; a plan is data, and every later run follows it.
"""
