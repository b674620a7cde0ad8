"""The deployment files are what their readers accept, and name only what is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.observing.alerts import ALERTS, rules, runbook
from cluster.observing.board import PANELS, page
from farm_core.settings import Settings
from farm_core.telemetry.metrics import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "cluster"
CLOUDS = sorted((CLUSTER / "ray").glob("*.yaml"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", CLOUDS, ids=lambda path: path.stem)
def test_ray_accepts_the_cluster(path: Path) -> None:
    import jsonschema
    import ray.autoscaler
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = yaml.safe_load(path.read_text())
    schema = json.loads((Path(ray.autoscaler.__file__).parent / "ray-schema.json").read_text())
    jsonschema.validate(config, schema)
    validate_config(prepare_config(config))


@pytest.mark.parametrize("path", CLOUDS, ids=lambda path: path.stem)
def test_the_word_that_ray_starts_a_container_with_becomes_a_shell(path: Path) -> None:
    from ray.autoscaler._private.docker import docker_start_cmds

    options = yaml.safe_load(path.read_text())["docker"]["run_options"]
    started = docker_start_cmds("ubuntu", "IMAGE", {}, "farm", options, "render-farm", "/root", "docker").split()
    (entrypoint,) = [word.removeprefix("--entrypoint=") for word in started if word.startswith("--entrypoint=")]
    shell = subprocess.run([entrypoint, *started[started.index("IMAGE") + 1 :], "-c", "echo shell"], check=False, capture_output=True, text=True)  # fmt: skip
    assert shell.stdout == "shell\n"


@pytest.mark.parametrize("path", CLOUDS, ids=lambda path: path.stem)
def test_every_node_gets_the_capabilities_that_egl_and_nvenc_need(path: Path) -> None:
    options = " ".join(yaml.safe_load(path.read_text())["docker"]["run_options"])
    assert {"graphics", "video", "compute"} <= set(re.search(r"CAPABILITIES=(\S+)", options)[1].split(","))  # type: ignore[index]


def test_the_node_image_asks_for_the_graphics_capability() -> None:
    assert "NVIDIA_DRIVER_CAPABILITIES=graphics,video" in (CLUSTER / "docker" / "Dockerfile").read_text()


def test_compose_sets_only_settings_that_there_are() -> None:
    services: dict[str, Any] = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]
    known = {name.upper() for name in Settings.model_fields} | {
        "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
    }  # fmt: skip
    for name in ("ray", "scheduler", "api", "migrate"):
        assert set(services[name]["environment"]) <= known


def test_a_scheduler_in_compose_sits_on_a_node_of_the_cluster() -> None:
    services: dict[str, Any] = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]
    node, scheduler = services["ray"], services["scheduler"]
    assert [scheduler[name] for name in ("network_mode", "ipc", "pid")] == ["service:ray"] * 3
    assert node["ipc"] == "shareable"
    assert "ray:/tmp/ray" in node["volumes"]
    assert scheduler["volumes_from"] == ["ray"]


def test_prometheus_asks_hosts_that_compose_names() -> None:
    services: dict[str, Any] = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]
    jobs = yaml.safe_load((CLUSTER / "observing" / "prometheus.yaml").read_text())["scrape_configs"]
    hosts = {target.split(":")[0] for job in jobs for group in job["static_configs"] for target in group["targets"]}
    assert hosts <= {name for name, service in services.items() if "network_mode" not in service}


def test_a_variable_that_compose_leaves_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S3_ENDPOINT_URL", "")
    assert Settings().s3_endpoint_url is None


def test_the_chart_has_values_for_everything_it_names() -> None:
    chart = CLUSTER / "helm" / "render-farm"
    values: dict[str, Any] = yaml.safe_load((chart / "values.yaml").read_text())
    for template in (chart / "templates").iterdir():
        for path in re.findall(r"\.Values\.([A-Za-z.]+)", template.read_text()):
            found: Any = values
            for word in path.split("."):
                assert word in found, f"{template.name} names .Values.{path}"
                found = found[word]


def test_the_board_is_the_one_that_the_table_makes() -> None:
    assert (CLUSTER / "observing" / "grafana.json").read_text() == page()


def test_board_and_alerts_use_only_metrics_that_are_exported() -> None:
    import api.app
    import scheduler.metrics

    assert api.app and scheduler.metrics
    exported = {sample.name for family in REGISTRY.collect() for sample in family.samples}
    exported |= {family.name for family in REGISTRY.collect()}
    expressions = [row[2] for row in PANELS] + [alert.expression for alert in ALERTS]
    shown = {name for expression in expressions for name in re.findall(r"farm_[a-z_]+", expression)}
    assert {name.removesuffix("_bucket").removesuffix("_total") for name in shown} <= exported


def test_alert_rules_and_runbook_are_those_of_the_table() -> None:
    assert (CLUSTER / "observing" / "alerts.yaml").read_text() == rules()
    assert (ROOT / "docs" / "operating" / "alerts.md").read_text() == runbook()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian package `prometheus`)")
def test_prometheus_accepts_the_alert_rules() -> None:
    done = subprocess.run(
        ["promtool", "check", "rules", str(CLUSTER / "observing" / "alerts.yaml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
