"""Deployment files are valid for the programs that read them, and name only things that exist."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.observing.alerts import ALERTS, rules, runbook
from cluster.observing.dashboard import PANELS, page
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


def ray_commands() -> dict[str, list[str]]:
    """Return each command that starts a Ray node, without what surrounds it, and the chart's parameters in its form."""
    found: dict[str, list[str]] = {}
    for path in [*CLOUDS, *CLUSTER.glob("systemd/*.service"), ROOT / "docs" / "operating" / "several-machines.md"]:
        lines = path.read_text().replace("\\\n", " ").splitlines()
        started = [line for line in lines if re.search(r"(ray|cluster\.ray_command) start --", line)]
        found |= {f"{path.name} {number}": line.split() for number, line in enumerate(started)}
    service = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]["ray"]
    found["compose.yaml"] = service["entrypoint"] + service["command"]
    chart = (CLUSTER / "helm" / "render-farm" / "templates" / "raycluster.yaml").read_text()
    for number, block in enumerate(re.findall(r"rayStartParams:\n(.*?)\n +template:", chart, re.DOTALL)):
        found[f"chart {number}"] = [f"--{name}={value}" for name, value in yaml.safe_load(block).items()]
    return found


def test_every_ray_node_starts_without_telemetry_and_with_a_small_object_store() -> None:
    commands = ray_commands()
    assert len(commands) == 3 * 2 + 2 + 2 + 1 + 2
    for place, words in commands.items():
        assert "--object-store-memory=100000000" in words, place  # frames never pass through it
        if ".service" in place:
            assert "RAY_USAGE_STATS_ENABLED=0" in (CLUSTER / "systemd" / place.split()[0]).read_text()
        else:
            assert {"--disable-usage-stats", "--disable-usage-stats=true"} & set(words), place


def test_nodes_get_more_time_to_start_than_ray_gives_them() -> None:
    # In the image, `ray` is the farm's program too: see test_ray_node.py.
    plain = {place.split()[0] for place, words in ray_commands().items() if "cluster.ray_command" not in words}
    assert plain == {*(path.name for path in CLOUDS), "chart", "compose.yaml"}


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


def test_the_chart_names_the_version_of_ray_in_the_image() -> None:
    values: dict[str, Any] = yaml.safe_load((CLUSTER / "helm" / "render-farm" / "values.yaml").read_text())
    assert f"ray=={values['ray']['version']} \\" in (ROOT / "requirements.lock").read_text().splitlines()


def test_the_chart_has_values_for_everything_it_names() -> None:
    chart = CLUSTER / "helm" / "render-farm"
    values: dict[str, Any] = yaml.safe_load((chart / "values.yaml").read_text())
    for template in (chart / "templates").iterdir():
        for path in re.findall(r"\.Values\.([A-Za-z.]+)", template.read_text()):
            found: Any = values
            for word in path.split("."):
                assert word in found, f"{template.name} names .Values.{path}"
                found = found[word]


def test_the_dashboard_file_is_generated_from_the_table() -> None:
    assert (CLUSTER / "observing" / "grafana.json").read_text() == page()


def test_dashboard_and_alerts_use_only_metrics_that_are_exported() -> None:
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
def test_prometheus_accepts_its_configuration_and_the_alert_rules() -> None:
    done = subprocess.run(
        ["promtool", "check", "config", str(CLUSTER / "observing" / "prometheus.yaml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"SUCCESS: {len(ALERTS)} rules found" in done.stdout + done.stderr


def test_the_site_for_nginx_works_with_the_nginx_of_debian_and_ubuntu() -> None:
    """Debian 12 has nginx 1.22 and Ubuntu 24.04 has 1.24; both accept `http2` only as an option of `listen`."""
    site = re.sub(r"#.*", "", (CLUSTER / "proxy" / "nginx.conf").read_text())
    assert "listen 443 ssl http2;" in site
    assert not re.search(r"^\s*http2\s", site, re.MULTILINE)


@pytest.mark.skipif(not all(map(shutil.which, ("nginx", "openssl"))), reason="nginx or openssl is not installed")
def test_nginx_accepts_the_site(tmp_path: Path) -> None:
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=x",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
    ]
    subprocess.run(made, check=True, capture_output=True)
    site = (CLUSTER / "proxy" / "nginx.conf").read_text().replace("/etc/ssl/farm", str(tmp_path))
    (tmp_path / "site.conf").write_text(site.replace("listen 443", "listen 127.0.0.1:8443"))
    temporary = "".join(
        f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ {temporary} access_log off; include {tmp_path}/site.conf; }}"
    (tmp_path / "nginx.conf").write_text(whole)
    done = subprocess.run(
        ["nginx", "-t", "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


WELL = {
    'up{job="farm-api"}': 1, 'up{job="farm-scheduler"}': 1, "farm_workers": 2, 'farm_jobs{status="queued"}': 3, 'farm_jobs{status="completed"}': 90,
    'farm_jobs{status="failed"}': 2, "farm_queue_age_seconds": 20, "farm_webhooks_overdue": 0, "farm_storage_up": 1,
    'farm_data_disk_free_ratio{folder=".farm"}': 0.4,
}  # fmt: skip
"""Metrics of a farm without problems."""
TROUBLES: dict[str, dict[str, float]] = {
    "": {},
    "FarmApiDown": {'up{job="farm-api"}': 0},
    "FarmSchedulerDown": {'up{job="farm-scheduler"}': 0},
    "FarmNoWorkers": {"farm_workers": 0},
    "FarmQueueOld": {"farm_queue_age_seconds": 700},
    "FarmJobsFail": {'farm_jobs{status="failed"}': 30},
    "FarmWebhookBacklog": {"farm_webhooks_overdue": 101},
    "FarmStorageDown": {"farm_storage_up": 0},
    "FarmDiskFull": {'farm_data_disk_free_ratio{folder=".farm"}': 0.04},
}
"""Alerts, each with the metrics that trigger it. The empty name has none."""


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian package `prometheus`)")
@pytest.mark.parametrize("alert", TROUBLES, ids=lambda name: name or "none")
def test_each_trouble_fires_its_own_alert_and_no_other(alert: str, tmp_path: Path) -> None:
    series = [{"series": name, "values": f"{value}x30"} for name, value in (WELL | TROUBLES[alert]).items()]
    firing: list[dict[str, Any]] = [{"eval_time": "20m", "expr": 'ALERTS{alertstate="firing"}', "exp_samples": []}]
    if alert:
        severity = next(one.severity for one in ALERTS if one.name == alert)
        labels = 'job="farm-api", ' if alert == "FarmApiDown" else ""
        labels = f'ALERTS{{alertname="{alert}", alertstate="firing", {labels}severity="{severity}"}}'
        firing[0]["exp_samples"] = [{"labels": labels, "value": 1}]
    rules = {"rule_files": [str(CLUSTER / "observing" / "alerts.yaml")], "evaluation_interval": "1m"}
    whole = rules | {"tests": [{"interval": "1m", "input_series": series, "promql_expr_test": firing}]}
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(whole))
    done = subprocess.run(
        ["promtool", "test", "rules", str(tmp_path / "test.yaml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_image_names_an_ordinary_user_by_number() -> None:
    users = re.findall(r"^USER (\S+)$", (CLUSTER / "docker" / "Dockerfile").read_text(), re.MULTILINE)
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", users[-1]), "Kubernetes checks `runAsNonRoot` against a number only"


def test_compose_runs_the_farm_as_an_ordinary_user_without_capabilities() -> None:
    services: dict[str, Any] = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]
    for name, service in services.items():
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not {"privileged", "cap_add", "devices"} & set(service), name
    ours = {name: service for name, service in services.items() if service.get("image") == "render-farm"}
    assert set(ours) == {"migrate", "ray", "scheduler", "api"}
    for name, service in ours.items():
        assert (service["user"], service["cap_drop"]) == ("10001:10001", ["ALL"]), name
        assert service.get("read_only", False) is (name != "ray"), name
    assert [name for name, service in services.items() if "ports" in service] == ["api"]


def test_every_container_of_the_chart_runs_as_an_ordinary_user() -> None:
    templates = CLUSTER / "helm" / "render-farm" / "templates"
    written = {path.name: path.read_text() for path in templates.iterdir()}
    pods = containers = 0
    for text in written.values():
        pods += len(re.findall(r"include \"farm.pod_security\"", text))
        images = re.findall(r"image: \{\{ include \"farm.image\".*?(?=image: \{\{|\Z)", text, re.DOTALL)
        containers += len(images)
        for container in images:
            assert re.search(r"include \"farm\.(node|container)_security\"", container), container
    assert (pods, containers) == (3, 5), "the API's pod, the head and the workers; five containers"
    defined = dict(re.findall(r"define \"(farm\.\w+)\" -\}\}\n(.*?)\{\{- end", written["_security.tpl"], re.DOTALL))
    of_pod, of_node, of_container = (
        yaml.safe_load(defined[f"farm.{name}_security"])["securityContext"] for name in ("pod", "node", "container")
    )
    assert (of_pod["runAsNonRoot"], of_pod["runAsUser"] > 0, of_pod["seccompProfile"]["type"]) == (
        True,
        True,
        "RuntimeDefault",
    )
    assert of_container == of_node | {"readOnlyRootFilesystem": True}
    assert of_node == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


@pytest.mark.parametrize("path", CLOUDS, ids=lambda path: path.stem)
def test_workers_and_the_api_of_a_ray_cluster_drop_root(path: Path) -> None:
    config = yaml.safe_load(path.read_text())
    commands = config["head_start_ray_commands"] + config["worker_start_ray_commands"]
    dropped = [one for one in commands if "-m api" in one or "--address=" in one]
    assert len(dropped) == 2
    for command in dropped:
        words = re.search(r"setpriv (.*?) (?:python|ray) ", command)
        assert words is not None, command
        assert {"--reuid=farm", "--regid=farm", "--no-new-privs", "--bounding-set=-all"} <= set(words[1].split())


@pytest.mark.parametrize("path", CLOUDS, ids=lambda path: path.stem)
def test_workers_of_a_ray_cluster_get_neither_the_database_nor_the_key_of_session_tokens(
    path: Path, tmp_path: Path
) -> None:
    (tmp_path / "farm.env").write_text("DATABASE_URL=postgresql://db/farm\nJWT_SECRET=secret\nRAY_AUTH_TOKEN=token\n")
    command = yaml.safe_load(path.read_text())["worker_start_ray_commands"][-1].replace(
        "/farm/.env", f"{tmp_path}/farm.env"
    )
    listing = re.sub(r"HOME=\S+ setpriv .*", "env", command)
    done = subprocess.run(["bash", "-c", listing], env={}, capture_output=True, text=True, check=True)
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert "RAY_AUTH_TOKEN" in names
    assert not {"DATABASE_URL", "JWT_SECRET"} & names


def test_workers_in_compose_get_neither_the_database_nor_the_key_of_session_tokens() -> None:
    services: dict[str, Any] = yaml.safe_load((CLUSTER / "compose.yaml").read_text())["services"]
    assert {"RAY_AUTH_TOKEN", "AWS_SECRET_ACCESS_KEY"} <= set(services["ray"]["environment"])
    assert not {"DATABASE_URL", "JWT_SECRET"} & set(services["ray"]["environment"])
    assert set(services["ray"]["environment"]) < set(services["scheduler"]["environment"])


@pytest.mark.skipif(
    shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs setpriv (Debian package `util-linux`) and root"
)
def test_the_words_that_drop_root_are_those_of_setpriv() -> None:
    path = CLOUDS[0]
    command = yaml.safe_load(path.read_text())["worker_start_ray_commands"][-1]
    words = re.search(r"setpriv (.*?) (?:python|ray) ", command)
    assert words is not None
    plain = [word for word in words[1].split() if not word.startswith(("--reuid", "--regid", "--init-groups"))]
    done = subprocess.run(["setpriv", *plain, "grep", "NoNewPrivs", "/proc/self/status"], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.stdout.split() == ["NoNewPrivs:", "1"], done.stderr


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Copy the units as the manual says, with programs that exist."""
    folder = shutil.copytree(CLUSTER / "systemd", tmp_path / "system", symlinks=True)
    for unit in folder.glob("*.service"):
        unit.write_text(re.sub(r"/home/farm/render-farm/(farm|\.venv/bin/\w+)", "/bin/true", unit.read_text()))
    return folder


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze (Debian package `systemd`)")
def test_systemd_accepts_the_units(units: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *sorted(map(str, units.glob("*.service")))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", sorted(path.name for path in CLUSTER.glob("systemd/*.service")))
def test_a_unit_and_its_drop_in_have_an_ordinary_user_and_a_read_only_system(units: Path, name: str) -> None:
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    folder = units / f"{name}.d" if name == "render-farm.service" else units / "render-farm-.service.d"
    parsed.read([units / name, *folder.iterdir()])
    service = parsed["Service"]
    assert service["User"] not in ("", "root")
    assert (service["NoNewPrivileges"], service["CapabilityBoundingSet"], service["ProtectSystem"]) == (
        "yes",
        "",
        "strict",
    )
    assert service["WorkingDirectory"].startswith(service["ReadWritePaths"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze (Debian package `systemd`)")
@pytest.mark.parametrize("name", sorted(path.name for path in CLUSTER.glob("systemd/*.service")))
def test_every_unit_has_an_ordinary_user_and_a_read_only_system(units: Path, name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--json=short", name]
    environment = os.environ | {"SYSTEMD_UNIT_PATH": f"{units}:"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    is_set = {row["name"]: row["set"] for row in json.loads(done.stdout)}
    assert is_set["User=/DynamicUser="] and is_set["NoNewPrivileges="]
    assert is_set["ProtectSystem="]
    assert all(value for row, value in is_set.items() if row.startswith("CapabilityBoundingSet="))
    service = configparser.RawConfigParser(strict=False)
    service.read([units / name, units / "render-farm.service.d" / "hardening.conf"])
    assert service["Service"]["WorkingDirectory"].startswith(service["Service"]["ReadWritePaths"])
