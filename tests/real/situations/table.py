"""The situations: each has its thread, what a user does there, and what is expected."""

SITUATIONS = []


class Situation:
    def __init__(self, play, thread, what, expected, before):
        self.name, self.play = play.__name__, play
        self.thread, self.what, self.expected, self.before = thread, what, expected, before


def situation(thread, what, expected, before=""):
    """Enters a function, which gets a Subject, into the table. `before` says what the tool did when the situation was first tried, if that was wrong."""
    def enter(play):
        SITUATIONS.append(Situation(play, thread, what, expected, before))
        return play
    return enter
