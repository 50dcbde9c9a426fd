"""The sentences around the lessons."""

from typing import Final

from app.classroom import FEWEST_ANSWERS
from recap.machine.printable import count_of

TRAIN_AGAIN: Final = "Train again to see what your change does."
NOTHING_SENT: Final = "Answers stay in the address of each learner's page. Nothing is sent anywhere."
IS_COUNTED: Final = "Your last answer is counted for the class, without your name."
COUNTED_HERE: Final = "Each learner's last answer is counted in the server's memory, without names, until the app ends."
DOOR_HELP: Final = "The start of the app printed it."
STAYS_CLOSED: Final = "This is not the token that the start of the app printed."
HANDOUT_HELP: Final = "To print: the plan on one page, then all questions."
KEY_HELP: Final = "To print: all answers."
ADDRESS_HELP: Final = "Choose what other computers can reach, or type it."
PROGRESS_LINE: Final = (
    "Lessons 1 to {lessons}: {minutes} minutes. All lessons: {answered} of {questions} questions answered."
)
PLAN_TITLE: Final = "A class of {minutes} minutes"
YOUR_GUESS: Final = "**{question}** Your guess: {answer}."
FOR_TEACHERS: Final = (
    "Each lesson asks for a guess before the answer. Let the class guess alone, talk in pairs, then reveal. "
    "The first {lessons} lessons alone take {minutes} minutes."
)


def class_waits(answers: int) -> str:
    return f"{count_of(answers, 'answer')}. From {FEWEST_ANSWERS} on, the page shows how many chose which."
