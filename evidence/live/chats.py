"""Short chats for a general instruct model: 24 sessions of 4 turns, as chat-message lines.

    {"session_id": "chat-00", "messages": [{"role": "user", "content": "What is a hash table?"}, …]}

The recorded answers are one sentence each: a turn replays the recorded history, so they only have
to be plausible.
"""

import json
from pathlib import Path

TOPICS = (
    ("a hash table", "A hash table stores values under keys and finds them in constant time."),
    ("a binary search", "A binary search halves a sorted list until the value is found."),
    ("recursion", "A recursive function calls itself on a smaller part of the problem."),
    ("a linked list", "A linked list is a chain of nodes, each pointing to the next one."),
    ("a race condition", "Two threads change the same data and the result depends on their order."),
    ("a unit test", "A unit test runs one small part of a program and checks its result."),
    ("a regular expression", "A regular expression is a pattern that describes a set of strings."),
    ("a compiler", "A compiler translates source code into machine code before it runs."),
    ("a database index", "An index lets a database find rows without reading the whole table."),
    ("an HTTP request", "A client sends a method, a path and headers, and a server answers."),
    ("version control", "Version control keeps every state of the files and who changed them."),
    ("a virtual machine", "A virtual machine is a computer simulated by another computer."),
    ("photosynthesis", "Plants turn light, water and carbon dioxide into sugar and oxygen."),
    ("an earthquake", "Plates of the crust slip suddenly and the ground shakes."),
    ("inflation", "Prices rise over time, so that money buys less."),
    ("a vaccine", "A vaccine trains the immune system on a harmless part of a germ."),
    ("the water cycle", "Water evaporates, forms clouds, falls as rain and flows back to the sea."),
    ("a solar eclipse", "The moon passes between the sun and the earth and hides the sun."),
    ("sourdough bread", "Sourdough rises by wild yeast kept alive in a mix of flour and water."),
    ("a chess opening", "An opening is a known sequence of first moves."),
    ("the Roman Empire", "Rome ruled the lands around the Mediterranean for some five centuries."),
    ("a sonnet", "A sonnet is a poem of fourteen lines with a fixed rhyme."),
    ("a mortgage", "A mortgage is a loan for a house, and the house secures it."),
    ("a black hole", "A black hole is so dense that not even light leaves it."),
)
QUESTIONS = (
    ("What is {}?", None),
    ("Give me a short example of {}.", "Here is one that you may know from daily life."),
    ("List five facts about {}.", "There are many more than five."),
    ("Write a short Python program about {}.", "Here it is."),
)


def sessions() -> list[dict[str, object]]:
    """One session per topic; the first recorded answer is the topic's own sentence."""
    made: list[dict[str, object]] = []
    for number, (topic, answer) in enumerate(TOPICS):
        messages = []
        for question, reply in QUESTIONS:
            messages.append({"role": "user", "content": question.format(topic)})
            messages.append({"role": "assistant", "content": reply or answer})
        made.append({"session_id": f"chat-{number:02}", "messages": messages})
    return made


def write(file: Path) -> Path:
    """All sessions, one per line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(made) + "\n" for made in sessions()), encoding="utf-8")
    return file
