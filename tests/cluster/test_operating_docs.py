"""The operators' manual names only commands, options, settings and files that exist."""

from __future__ import annotations

import argparse
import importlib
import re
from pathlib import Path

import pytest

from farm_core.__main__ import COMMANDS
from farm_core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "operating").glob("*.md"))]
CALL = re.compile(r"\./farm ([a-z][a-z-]*)([^`\n|#]*)")
SETTING = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`")
FOREIGN = {
    "RAY_HEAD", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "CUDA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "OTEL_TRACES_SAMPLER",
    "OTEL_EXPORTER_OTLP_HEADERS",
}  # fmt: skip
"""Variables of other programs."""
LINK = re.compile(r"\]\(([^)#:]+)\)")


def calls() -> set[tuple[str, str]]:
    return {(name, options) for page in PAGES for name, options in CALL.findall(page.read_text())}


def known_options(parser: argparse.ArgumentParser) -> set[str]:
    found = set(parser._option_string_actions)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= {option for below in action.choices.values() for option in known_options(below)}
    return found


@pytest.mark.parametrize(("name", "options"), sorted(calls()))
def test_every_command_and_option_exists(name: str, options: str) -> None:
    assert name in COMMANDS
    if name == "test":  # passes its arguments to pytest
        return
    parser = argparse.ArgumentParser()
    importlib.import_module(COMMANDS[name][0]).add_arguments(parser)
    assert set(re.findall(r"(?<!\S)--[a-z-]+", options)) <= known_options(parser)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_exists(page: Path) -> None:
    known = {name.upper() for name in Settings.model_fields} | FOREIGN
    assert {name for name in SETTING.findall(page.read_text()) if name not in known} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    assert [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()] == []
