"""Choose the inputs of a template from those that a project offers, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from starlette.datastructures import FormData

from api.templates.schemas import LABEL_LENGTH_MAX
from farm_core.errors import BadRequest
from farm_core.strict_json import character_fault
from motion.template import InputField

CHOICE: Final = "choice"
"""Form field with the ids of the chosen inputs. Browsers do not send unticked boxes."""
LABEL: Final = "label."


def chosen(fields: Sequence[InputField], form: FormData) -> list[InputField]:
    """Return the chosen inputs with the form's labels. Return all inputs if the form has no choice.

    Required inputs are always included. Raises BadRequest for a label that cannot be stored.
    """
    ids = set(form.getlist("input"))
    kept = [one for one in fields if one.required or one.id in ids or CHOICE not in form]
    return [replace(one, label=_label(one, form)) for one in kept]


def _label(field: InputField, form: FormData) -> str:
    return one_line(str(form.get(LABEL + field.id, "")), f"label of {field.id!r}", LABEL_LENGTH_MAX) or field.label


def one_line(text: str, what: str, length: int) -> str:
    """Return an entered text in one line, cut to `length`. Raises BadRequest if it cannot be stored."""
    if fault := character_fault(text):
        raise BadRequest(f"The {what} {fault}.")
    return " ".join(text.split())[:length].strip()
