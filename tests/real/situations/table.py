"""The table of situations. Each has the thread it comes from, what the user does, and the expected result."""

SITUATIONS = []


class Situation:
    def __init__(self, play, thread, what, expected, before):
        self.name, self.play = play.__name__, play
        self.thread, self.what, self.expected, self.before = thread, what, expected, before


def situation(thread, what, expected, before=""):
    """Adds a function, which gets a Subject, to the table. `before` says what the tool did when the situation was first tried, if that was wrong."""
    def enter(play):
        SITUATIONS.append(Situation(play, thread, what, expected, before))
        return play
    return enter
