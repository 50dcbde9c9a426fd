"""The sentences around the lessons."""

from typing import Final

TRAIN_AGAIN: Final = "Train again to see what your change does."
FOR_TEACHERS: Final = (
    "Each lesson asks for a guess before the answer. Let the class guess alone, talk in pairs, then reveal."
)
NOTHING_SENT: Final = "Answers stay in the address of each learner's page. Nothing is sent anywhere."
HANDOUT_HELP: Final = "One page that prints: all questions, then the answers."


def progress_line(lessons: int, minutes: int, answered: int, questions: int) -> str:
    return f"Lessons 1 to {lessons}: {minutes} minutes. All lessons: {answered} of {questions} questions answered."


def plan_title(lessons: int, minutes: int) -> str:
    return f"{lessons} lessons, {minutes} minutes"


def your_guess(question: str, answer: str) -> str:
    return f"**{question}** Your guess: {answer}."
