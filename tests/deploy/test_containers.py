"""The Dockerfile and the compose file, as far as they can be checked without Docker."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from indexer.cli.main import COMMANDS, cli
from indexer.settings import ENVIRONMENT_PREFIX, Settings, load_settings
from tests.support.dockerfile import parse_copy, read_stages
from tests.support.paths import ROOT
from webapi.server.gunicorn_app import check_listen_host

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OUR_SERVICES = [name for name, service in SERVICES.items() if service["image"].startswith("phrasecom:")]
PINNED = re.compile(r"^[\w./-]+:\d+\.\d+\.\d+[\w.-]*$")


def test_every_image_is_pinned_to_a_version() -> None:
    bases = [stage[0].arguments.partition(" ")[0] for stage in read_stages()]
    assert len(set(bases)) == 1
    for image in (*bases, *(service["image"] for service in SERVICES.values())):
        assert PINNED.match(image), image
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert {SERVICES[name]["image"] for name in OUR_SERVICES} == {f"phrasecom:{version}"}


def test_the_elasticsearch_is_the_one_that_is_tested_with() -> None:
    jars = (ROOT / "deploy" / "elasticsearch" / "jars.lock").read_text()
    found = re.search(r"org\.elasticsearch:elasticsearch:(\S+)", jars)
    assert found and SERVICES["elasticsearch"]["image"] == f"elasticsearch:{found[1]}"


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_is_root_or_can_become_it(name: str) -> None:
    service = SERVICES[name]
    assert service["user"].partition(":")[0] not in ("0", "root")
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("read_only") or name == "elasticsearch"


def test_the_image_s_own_user_is_the_one_compose_names() -> None:
    final = {step.instruction: step.arguments for step in read_stages()[-1]}
    assert {SERVICES[name]["user"] for name in OUR_SERVICES} == {final["USER"]}
    assert f"--uid {final['USER'].partition(':')[0]} " in final["RUN"]


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "tools"])
def test_every_service_has_a_health_check_and_a_memory_limit(name: str) -> None:
    service = SERVICES[name]
    assert service["healthcheck"]["test"] and service["restart"] == "unless-stopped" and service["mem_limit"]


def test_only_the_web_server_can_be_called_and_only_from_this_machine() -> None:
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"web"}
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["web"]["ports"])
    assert COMPOSE["networks"]["inside"]["internal"]
    assert all(service["networks"] == ["inside"] for name, service in SERVICES.items() if name != "web")


@pytest.mark.parametrize("name", OUR_SERVICES)
def test_settings_and_commands_exist(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in SERVICES[name]["environment"].items():
        assert variable.removeprefix(ENVIRONMENT_PREFIX).lower() in Settings.model_fields, variable
        monkeypatch.setenv(variable, value)
    load_settings()
    asked, checked = SERVICES[name].get("command", ()), SERVICES[name].get("healthcheck", {}).get("test", ())
    assert all(word in COMMANDS for word in asked)
    if "phrasecom" in checked:
        assert checked[checked.index("phrasecom") + 1] in COMMANDS


def test_the_web_server_may_listen_with_these_settings_and_a_key(tmp_path: Path) -> None:
    given = SERVICES["web"]["environment"]
    keys = tmp_path / "keys.toml"
    made = CliRunner().invoke(cli, ["keys", "add", "me", "--keys-file", str(keys)])
    assert made.exit_code == 0, made.output
    check_listen_host(load_settings(host=given["PHRASECOM_HOST"], keys_file=str(keys)))


def test_every_volume_that_is_used_is_declared() -> None:
    used = {volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    assert used == set(COMPOSE["volumes"])


def test_the_store_is_configured_as_reliability_asks() -> None:
    command = " ".join(SERVICES["valkey"]["command"])
    for words in ("--appendonly yes", "--appendfsync always", "--maxmemory-policy noeviction"):
        assert words in command


def test_the_image_has_the_locked_packages_and_all_of_ours() -> None:
    build, final = read_stages()
    taken = [source for step in build if step.instruction == "COPY" for source in parse_copy(step)[0]]
    assert all((ROOT / source).exists() for source in taken)
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(wheel["packages"]) <= set(taken)
    installs = [step.arguments for step in build if "pip install" in step.arguments]
    assert any("--require-hashes -r /src/requirements.txt" in one for one in installs)
    assert all("--require-hashes" in one or "--no-deps" in one for one in installs)
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == set(taken)
    assert final[-2].arguments == '["phrasecom"]'
