"""Signed links."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from farm_core.storage.links import Links

LINKS = Links(b"secret")


def parts(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def test_a_link_opens_what_it_names_until_it_expires() -> None:
    query = parts(LINKS.url("http://farm.example", "renders/a.mp4", LINKS.in_seconds(60)))
    assert LINKS.opens("renders/a.mp4", query["expires"], query["signature"])
    assert not LINKS.opens("renders/b.mp4", query["expires"], query["signature"])
    past = parts(LINKS.url("http://farm.example", "renders/a.mp4", LINKS.in_seconds(-1)))
    assert not LINKS.opens("renders/a.mp4", past["expires"], past["signature"])


def test_no_part_of_a_link_can_be_changed() -> None:
    query = parts(LINKS.url("http://farm.example", "a.mp4", LINKS.in_seconds(60), "film.mp4"))
    assert LINKS.opens("a.mp4", query["expires"], query["signature"], "film.mp4")
    assert not LINKS.opens("a.mp4", str(int(query["expires"]) + 1), query["signature"], "film.mp4")
    assert not LINKS.opens("a.mp4", query["expires"], query["signature"], "other.exe")
    assert not LINKS.opens("a.mp4", query["expires"], query["signature"][:-1] + "ü", "film.mp4")
    assert not Links(b"other").opens("a.mp4", query["expires"], query["signature"], "film.mp4")


def test_the_query_of_a_link_is_signed_and_no_other_is() -> None:
    query = urlsplit(LINKS.url("http://farm.example", "a.mp4", LINKS.in_seconds(60), "film 1.mp4")).query
    assert LINKS.signed("a.mp4", query)
    assert not LINKS.signed("b.mp4", query)
    for other in ("", query.partition("&")[0], query + "&x=1" * 20):
        assert not LINKS.signed("a.mp4", other)


def test_nonsense_opens_nothing() -> None:
    for expires in ("", "-1", "nan", "١٢٣", "9" * 40, "9" * 5000):
        assert not LINKS.opens("a.mp4", expires, "signature")


def test_rounded_moments_repeat() -> None:
    assert LINKS.in_seconds(60, 3600) % 3600 == 0
    assert LINKS.in_seconds(60, 3600) >= LINKS.in_seconds(60)
