"""Headers that once took seconds to read, and headers of real clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.header_values import VALUE_LENGTH_MAX, parameters
from farm_core.errors import BadRequest
from tests.api.world import World
from tests.attacks.bounded import bounded


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("multipart/form-data; boundary=abc", {"boundary": "abc"}),
        ('Multipart/Form-Data;BOUNDARY="a;b\\"c" ; charset=utf-8', {"boundary": 'a;b"c', "charset": "utf-8"}),
        ("multipart/form-data; boundary = abc ;; boundary=other", {"boundary": "abc"}),
        ("form-data; name=\"file\"; filename*=UTF-8''na%C3%AFve.png", {"name": "file", "filename": "naïve.png"}),
        ('form-data; name="file"; filename="a.png"', {"name": "file", "filename": "a.png"}),
        ("text/plain", {}),
        ("text/plain; novalue; x=", {"x": ""}),
    ],
)
def test_parameters_of_real_clients_are_read(value: str, found: dict[str, str]) -> None:
    assert parameters(value)[1] == found


def test_a_value_of_semicolons_is_refused_or_read_in_linear_time() -> None:
    code = """
        from api.header_values import parameters
        from farm_core.errors import BadRequest
        import api.header_values
        api.header_values.VALUE_LENGTH_MAX = 10_000_000
        for unit in (";", '"', ";a", '; a="', "; a=b ", "\\\\"):
            parameters("x;" + unit * 300_000)
        print("done")
    """
    assert bounded(code) == "done"
    with pytest.raises(BadRequest):
        parameters(";" * (VALUE_LENGTH_MAX + 1))


@given(st.text(max_size=VALUE_LENGTH_MAX))
def test_no_value_breaks_the_parser(value: str) -> None:
    parameters(value)


@pytest.mark.service
def test_a_boundary_that_the_parser_does_not_take_is_no_server_error(world: World) -> None:
    form = {"Content-Type": "multipart/form-data; boundary=" + "a" * 300}
    answer = world.account().post("/assets", content=b"--", headers=form)
    assert (answer.status_code, "longer than 70" in answer.json()["message"]) == (400, True)
