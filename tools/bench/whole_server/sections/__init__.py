"""What is measured.

Each section has `measure(turn)`, one round of it, `report(rounds, options)`, its tables in Markdown, and
`goals(rounds, options)`.
"""
