"""A world for a text that is not a whole program: what it leaves out is made up, and said.

`reading` says what the text does with each value that it does not define, `roles` what such a
value therefore is, `world` makes it when the text asks for it, `driving` calls what nothing calls.
`scout` finds the plan (shapes, counts, and what use does not decide) under which the text runs, or
raises the given error; a plan is data, and every later run follows it.
"""
