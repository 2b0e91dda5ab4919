"""What an agent is told before it uses any tool: what a guess is, and what a surprise costs."""

from __future__ import annotations

INSTRUCTIONS = """\
A metric whose rows you cannot see, and cannot wear out. Some of its rows are for practice: your score on them is
exact and free, and the more you choose by it, the more it flatters you. The others are sealed: they check what practice
says.

Guess: what you expect an answer to be, from data of your own or from practice rows. If the sealed rows agree with it,
the answer costs almost nothing. If they disagree, that is a surprise: it costs about ten nats, makes every later
interval a little wider for everybody, and is counted. So bring honest guesses, and do not probe.

Every certified interval holds together with all the others (95 % unless the place says otherwise): you may report
`low` to `high`. Do not report a practice score as a result. Repeating a question or a file is free and tells nothing
new.

In a loop that changes something and keeps or reverts it, call `gate` after each change: it decides at full resolution
on practice rows, and certifies at milestones how much of the gain is real. When the loop is done, `finish` tells its
gain and its score, certified: report those.
"""
