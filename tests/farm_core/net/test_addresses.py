"""URLs and addresses that count as public."""

from __future__ import annotations

import contextlib
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farm_core.net.addresses import UrlRefused, checked_target, is_public, number_host

PRIVATE_URLS = [
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://a.localhost/",
    "http://printer.local/",
    "http://db.internal/",
    "http://metadata.google.internal/",
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://0177.0.0.1/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://0xa9fea9fe/",
    "http://0.0.0.0/",
    "http://0/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[2606:4700::1]/",
    "http://user@example.com/",
    "http://example.com@127.0.0.1/",
    "http://u:p@example.com/",
    "http://metadata/",
    "http://metadata.goog/",
    "http://168.63.129.16/",
    "http://198.18.0.1/",
    "http://240.0.0.1/",
    "http://192.0.0.8/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://metadata.google/",
    "http://metadata.azure.com/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://ⓛocalhost/",
    "http://redis:6379/",
    "http://192.168.1/",
    "http://0300.0250.1.1/",
    "http://1.2.3.4.5/",
    "http://256.1.1.1/",
    "http://1.2.3.256/",
    "http://4294967296/",
    "http://0x/",
    "http://08.1.1.1/",
]

NOT_URLS = [
    "", "example.com", "//example.com", "ftp://example.com/", "file:///etc/passwd", "data:text/plain,x", "blob:http://x/y",
    "javascript:alert(1)", "http://", "http:///path", "http://exa mple.com/", "http://example.com\\@127.0.0.1/",
    "http://example.com:0/", "http://example.com:99999/", "http://example.com\n/", "http://ex\x00ample.com/",
    "http://example..com/", "https://" + "a" * 3000 + ".com/", "http://[::1/", "http://[v1.a.example]/", "http://%31%32%37.0.0.1/",
]  # fmt: skip

PUBLIC_URLS = [
    "http://example.com/",
    "https://example.com/a.png?x=1#y",
    "HTTPS://EXAMPLE.COM/",
    "http://8.8.8.8/",
    "https://sub.example.co.uk:8443/x",
    "http://bücher.example/",
    "http://localhost.example.com/",
    "http://internal.example.com/",
    "http://example.com./a",
    "http://134744072/",
]


@pytest.mark.parametrize("url", PRIVATE_URLS)
def test_every_spelling_of_a_private_host_is_refused(url: str) -> None:
    with pytest.raises(UrlRefused):
        checked_target(url, allow_private=False)


@pytest.mark.parametrize("url", NOT_URLS)
@pytest.mark.parametrize("allow_private", [False, True])
def test_an_invalid_url_is_refused_even_if_private_ones_are_allowed(url: str, allow_private: bool) -> None:
    with pytest.raises(UrlRefused):
        checked_target(url, allow_private=allow_private)


@pytest.mark.parametrize("url", PUBLIC_URLS)
def test_public_urls_pass(url: str) -> None:
    assert checked_target(url, allow_private=False).host


def test_a_url_may_have_2048_characters() -> None:
    longest = "http://example.com/".ljust(2048, "a")
    assert checked_target(longest, allow_private=False).host == "example.com"
    with pytest.raises(UrlRefused, match="longer than 2048"):
        checked_target(longest + "a", allow_private=True)


@pytest.mark.parametrize(("url", "port"), [("http://example.com", 80), ("https://example.com", 443)])
def test_a_url_without_a_port_has_that_of_its_scheme(url: str, port: int) -> None:
    assert checked_target(url, allow_private=False).port == port


def test_a_self_hosted_farm_may_allow_private_hosts() -> None:
    target = checked_target("http://localhost:9000/hook", allow_private=True)
    assert (target.host, target.port) == ("localhost", 9000)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "100.64.0.1",
        "0.1.2.3",
        "224.0.0.251",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "2002:7f00:1::1",
        "2001:db8::1",
        "2001::1",
        "3fff::1",
        "::127.0.0.1",
        "64:ff9b:0:1::808:808",
        "garbage",
    ],
)
def test_addresses_off_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("224.0.0.0", "255.255.255.255"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ],
)
def test_networks_off_the_public_internet_end_where_iana_says(first: str, last: str) -> None:
    """https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry"""
    low, high = ip_address(first), ip_address(last)
    assert not is_public(first) and not is_public(last)
    assert first in ("0.0.0.0", "4000::") or is_public(str(low - 1))
    assert last.startswith(("255.", "ffff:")) or is_public(str(high + 1))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_addresses_on_the_public_internet(address: str) -> None:
    assert is_public(address)


@given(st.integers(0, 2**32 - 1))
def test_all_spellings_of_a_number_mean_the_same_address(value: int) -> None:
    a, b, c, d = value.to_bytes(4, "big")
    spellings = [
        f"{a}.{b}.{c}.{d}", str(value), hex(value), f"0{value:o}", f"{a}.{value & 0xFFFFFF}", f"0{a:o}.{hex(b)}.{c}.{d}",
    ]  # fmt: skip
    assert len({number_host(spelling) for spelling in spellings}) == 1


@given(st.text(max_size=60))
def test_no_text_does_worse_than_being_refused(text: str) -> None:
    with contextlib.suppress(UrlRefused):
        checked_target("http://" + text, allow_private=False)
