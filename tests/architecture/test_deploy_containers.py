"""Test that deploy/compose and deploy/kubernetes match the program.

``make deploy-check`` also compares deploy/compose and deploy/kubernetes with schemas.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.prometheus_rule import FILE, prometheus_rule
from tests.support.tree import ROOT

from relaybook.settings.configuration import FIELDS, resolve, variable_of
from relaybook.settings.definitions import Settings

COMPOSE = ROOT / "deploy" / "compose"
BASE = ROOT / "deploy" / "kubernetes" / "base"
MONITORING = BASE.with_name("monitoring")
#: The time that the recorder gets after the drain. The unit in deploy/systemd allows the same time.
RECORD_SECONDS = 90
VARIABLES = {*map(variable_of, FIELDS), "RELAYBOOK_CONFIG"}


def objects(directory: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the Kubernetes objects in a directory by kind and name."""
    found = [each for path in sorted(directory.glob("*.yaml")) for each in yaml.safe_load_all(path.read_text("utf-8"))]
    return {(each["kind"], each["metadata"]["name"]): each for each in found if each["kind"] != "Kustomization"}


@pytest.fixture
def pod() -> Any:
    return objects(BASE)["StatefulSet", "relaybook"]["spec"]["template"]["spec"]


@pytest.fixture
def container(pod: Any) -> Any:
    (only,) = pod["containers"]
    return only


@pytest.fixture
def services() -> Any:
    return yaml.safe_load((COMPOSE / "compose.yaml").read_text("utf-8"))["services"]


@pytest.mark.parametrize("directory", [BASE, MONITORING], ids=lambda directory: directory.name)
def test_every_file_of_a_directory_is_applied(directory: Path) -> None:
    listed = yaml.safe_load((directory / "kustomization.yaml").read_text("utf-8"))["resources"]
    files = {path.name for path in directory.glob("*.yaml")} - {"kustomization.yaml"}
    assert {name for name in listed if name != "../base"} == files


def test_the_settings_of_the_pod_are_valid() -> None:
    resolved = resolve({}, {"HOME": "/h"}, BASE, str(BASE / "relaybook.toml"))
    assert resolved.warnings == []


def test_variables_are_settings(services: Any, container: Any) -> None:
    patch = (MONITORING / "kustomization.yaml").read_text("utf-8")
    names = {each["name"] for each in container["env"]} | set(re.findall(r"\bRELAYBOOK_[A-Z_]+", patch))
    assert names | set(services["relaybook"]["environment"]) <= VARIABLES


def test_a_stop_waits_for_running_requests_and_the_journal(services: Any, pod: Any, container: Any) -> None:
    needed = Settings().drain_timeout + RECORD_SECONDS
    wait = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] >= wait + needed
    assert int(services["relaybook"]["stop_grace_period"].removesuffix("s")) >= needed


def test_probes_check_the_relay_each_second(container: Any) -> None:
    paths = {"startupProbe": "/healthz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    for name, path in paths.items():
        assert container[name]["httpGet"] == {"path": path, "port": "relay"}
        assert container[name]["periodSeconds"] == 1


def test_a_start_may_wait_until_the_previous_server_has_ended(pod: Any, container: Any) -> None:
    assert container["startupProbe"]["failureThreshold"] >= pod["terminationGracePeriodSeconds"]


def test_containers_have_no_rights_and_one_writable_volume(services: Any, pod: Any, container: Any) -> None:
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    user = re.search(r"^USER (\d+):", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert user
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, int(user[1]))
    assert not pod["automountServiceAccountToken"]
    assert [each["mountPath"] for each in container["volumeMounts"] if not each.get("readOnly")] == ["/data"]
    relaybook = services["relaybook"]
    assert (relaybook["read_only"], relaybook["cap_drop"], relaybook["volumes"]) == (True, ["ALL"], ["data:/data"])
    assert relaybook["security_opt"] == ["no-new-privileges:true"]


def test_only_one_server_uses_the_volume() -> None:
    spec = objects(BASE)["StatefulSet", "relaybook"]["spec"]
    assert spec["replicas"] == 1
    assert spec["volumeClaimTemplates"][0]["spec"]["accessModes"] == ["ReadWriteOnce"]


def test_services_and_policies_name_ports_and_labels_of_the_pod(container: Any) -> None:
    labels = objects(BASE)["StatefulSet", "relaybook"]["spec"]["template"]["metadata"]["labels"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {name: default_port(name) for name in ports} == {"relay": 4100, "dashboard": 4101}
    for (kind, _), each in {**objects(BASE), **objects(MONITORING)}.items():
        if kind == "Service":
            assert each["spec"]["selector"] == labels
            assert {port["targetPort"] for port in each["spec"]["ports"]} <= set(ports)
        if kind == "NetworkPolicy":
            assert each["spec"]["podSelector"]["matchLabels"] == labels
            assert {port["port"] for rule in each["spec"]["ingress"] for port in rule["ports"]} <= set(ports)


def default_port(name: str) -> int:
    listeners: Mapping[str, str] = {"relay": Settings().listen, "dashboard": Settings().dashboard}
    return int(listeners[name].rpartition(":")[2])


def test_prometheus_finds_the_dashboard_under_the_host_of_its_url() -> None:
    """The dashboard refuses requests with any other host."""
    (endpoint,) = objects(MONITORING)["ServiceMonitor", "relaybook"]["spec"]["endpoints"]
    (relabeling,) = endpoint["relabelings"]
    url = "http://" + relabeling["replacement"].replace("$1", "$(NAMESPACE)")
    assert f'value: "{url}"' in (MONITORING / "kustomization.yaml").read_text("utf-8")
    assert ("Service", "relaybook-dashboard") in objects(BASE)


def test_the_kubernetes_alerts_are_the_alerts() -> None:
    assert FILE.read_text("utf-8") == prometheus_rule()


def test_prometheus_scrapes_the_job_of_the_alerts_on_loopback(services: Any) -> None:
    (job,) = yaml.safe_load((COMPOSE / "prometheus.yaml").read_text("utf-8"))["scrape_configs"]
    assert (job["job_name"], job["static_configs"]) == ("relaybook", [{"targets": [Settings().dashboard]}])
    assert services["prometheus"]["network_mode"] == "service:relaybook"
