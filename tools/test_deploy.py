#!/usr/bin/env python3
"""Tests of deploy/: what each file promises about users, file systems and privileges is in it, and the configurations that it
makes are ones that the program takes. Where a container engine answers, the image is built and asked a question.

SHUFFLEDP names the program (target/release/shuffledp); without one, what needs it is said to be skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
PROGRAM = Path(os.environ.get("SHUFFLEDP", ROOT / "target/release/shuffledp"))
SERVICES = ("server", "shuffler")


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def engine() -> str | None:
    """A container engine that answers."""
    for name in ("podman", "docker"):
        if shutil.which(name) and run(name, "info").returncode == 0:
            return name
    return None


class Image(unittest.TestCase):
    def setUp(self) -> None:
        text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
        self.lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]

    def test_the_last_stage_has_the_program_alone_and_is_not_root(self) -> None:
        bases = [rest for word, rest in self.lines if word == "FROM"]
        self.assertGreaterEqual(len(bases), 2, "one stage builds, another runs")
        self.assertEqual(bases[-1], "scratch")
        start = max(number for number, (word, _) in enumerate(self.lines) if word == "FROM")
        last = self.lines[start:]
        self.assertFalse([line for line in last if line[0] == "RUN"], "there is no shell to run anything")
        for word, rest in last:
            if word == "COPY":
                self.assertIn("--from=", rest, "nothing comes from the build's folder")
        users = [rest for word, rest in last if word == "USER"]
        self.assertTrue(users and re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1]), users)
        entry = [rest for word, rest in last if word == "ENTRYPOINT"]
        self.assertEqual(entry, ['["/usr/bin/shuffledp"]'])

    def test_versions_are_those_of_the_project(self) -> None:
        build = next(rest for word, rest in self.lines if word == "FROM")
        image = re.match(r"rust:(\d+)\.(\d+)", build)
        minimum = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
        self.assertGreaterEqual(tuple(map(int, image.groups())), tuple(map(int, minimum.split("."))))
        commands = " ".join(rest for word, rest in self.lines if word == "RUN")
        self.assertIn("--locked", commands)

    def test_it_is_built_and_answers(self) -> None:
        name = engine()
        if name is None or os.environ.get("DEPLOY_BUILD") != "1":
            self.skipTest("the image is built with DEPLOY_BUILD=1 where podman or docker answers; it was read here")
        built = run(name, "build", "-f", DEPLOY / "Containerfile", "-t", "shuffledp-test", ROOT)
        self.assertEqual(built.returncode, 0, built.stderr[-2000:])
        locked = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none"]
        question = ["epsilon", "--clients", "1e6", "--local-epsilon", "1", "--delta", "1e-8"]
        answer = run(name, "run", "--rm", *locked, "shuffledp-test", *question)
        self.assertIn("ε ≤ ", answer.stdout, answer.stderr)


class Units(unittest.TestCase):
    """Settings without which a unit would see more of the machine than its own folder and the network."""

    HARDENED = {
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "PrivateDevices": "yes",
        "PrivateUsers": "yes",
        "ProtectKernelTunables": "yes",
        "ProtectKernelModules": "yes",
        "ProtectKernelLogs": "yes",
        "ProtectControlGroups": "yes",
        "ProtectClock": "yes",
        "ProtectProc": "invisible",
        "RestrictNamespaces": "yes",
        "RestrictSUIDSGID": "yes",
        "MemoryDenyWriteExecute": "yes",
        "LockPersonality": "yes",
        "SystemCallArchitectures": "native",
        "StateDirectoryMode": "0700",
        "UMask": "0077",
        "LimitCORE": "0",
    }

    def unit(self, service: str) -> dict[str, str]:
        settings: dict[str, str] = {}
        for line in (DEPLOY / f"systemd/shuffledp-{service}.service").read_text().splitlines():
            if "=" in line and not line.startswith("#"):
                key, value = line.split("=", 1)
                settings[key] = f"{settings[key]} {value}" if key == "SystemCallFilter" and key in settings else value
        return settings

    def test_they_are_hardened_and_start_the_program_as_its_own_user(self) -> None:
        users = (DEPLOY / "systemd/shuffledp.sysusers").read_text()
        for service in SERVICES:
            settings = self.unit(service)
            for key, value in self.HARDENED.items():
                self.assertEqual(settings.get(key), value, f"{service}: {key}")
            self.assertIn("~@privileged", settings["SystemCallFilter"])
            self.assertEqual(settings["User"], f"shuffledp-{service}")
            self.assertIn(f"u shuffledp-{service} ", users)
            self.assertGreaterEqual(int(settings["LimitNOFILE"]), 4096 + 1024, "listen.connections and files")
            state = f"/var/lib/{settings['StateDirectory']}"
            expected = f"/usr/bin/shuffledp {service} --config {state}/{service}.toml"
            self.assertEqual(settings["ExecStart"], expected)
            # systemd's own grace is longer than the program's, or requests under way would be cut off.
            self.assertGreater(int(settings["TimeoutStopSec"]), 10)

    def test_systemd_finds_them_well_formed_and_little_exposed(self) -> None:
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze here")
        for service in SERVICES:
            unit = DEPLOY / f"systemd/shuffledp-{service}.service"
            # Without the program and the user on this machine, verify can only complain about these two.
            verified = run("systemd-analyze", "verify", "--man=no", unit)
            wrong = [line for line in verified.stderr.splitlines() if unit.name in line and "/usr/bin/shuffledp" not in line]
            self.assertEqual(wrong, [])
            judged = run("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)
            self.assertEqual(judged.returncode, 0, f"the exposure is above 2.0:\n{judged.stdout[-1500:]}{judged.stderr}")


@unittest.skipIf(yaml is None, "no PyYAML here (Debian: apt-get install python3-yaml)")
class Compose(unittest.TestCase):
    def setUp(self) -> None:
        self.file = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())

    def test_every_service_is_locked_down(self) -> None:
        services = self.file["services"]
        self.assertEqual(set(services), {"server", "shuffler", "clients"})
        for name, service in services.items():
            self.assertIs(service["read_only"], True, name)
            self.assertEqual(service["cap_drop"], ["ALL"], name)
            self.assertIn("no-new-privileges:true", service["security_opt"], name)
            self.assertNotEqual(service["user"].split(":")[0], "0", name)
            self.assertNotIn("privileged", service, name)
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), f"{name}: {port} is open to all")
        self.assertIn("shuffler", services["server"]["depends_on"], "rounds without a shuffler are charged for nothing")

    def test_the_configurations_that_it_starts_are_taken_by_the_program(self) -> None:
        if not PROGRAM.exists():
            self.skipTest(f"{PROGRAM} is not built")
        if not shutil.which("openssl"):
            self.skipTest("no openssl here")
        with tempfile.TemporaryDirectory() as state:
            prepared = run("bash", DEPLOY / "compose/prepare.sh", state, env={**os.environ, "SHUFFLEDP": str(PROGRAM)})
            self.assertEqual(prepared.returncode, 0, prepared.stderr)
            shown = run(PROGRAM, "server", "show", "--config", f"{state}/server/server.toml")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            configurations = {
                name: tomllib.loads(Path(state, name, f"{name}.toml").read_text()) for name in (*SERVICES, "client")
            }
            server, shuffler, client = (configurations[name] for name in ("server", "shuffler", "client"))
            for line in shown.stdout.splitlines():
                key, value = tomllib.loads(line).popitem()
                self.assertEqual(client[key], value)
            # Each asks the others by their names in the compose file, over TLS, and with the right port.
            port = {name: configurations[name]["listen"]["address"].rpartition(":")[2] for name in SERVICES}
            self.assertEqual(server["task"]["shuffler"]["url"], f"https://shuffler:{port['shuffler']}")
            self.assertEqual(shuffler["servers"][0]["url"], f"https://server:{port['server']}")
            self.assertEqual(client["server"], f"https://server:{port['server']}")
            for name in SERVICES:
                listen = configurations[name]["listen"]
                self.assertTrue(listen["admin"].startswith("127.0.0.1:"))
                folder = Path(state, name)
                verified = run("openssl", "verify", "-CAfile", f"{state}/ca.pem", folder / listen["tls"]["certificate"])
                self.assertEqual(verified.returncode, 0, verified.stderr)
                self.assertEqual((folder / listen["tls"]["key"]).stat().st_mode & 0o777, 0o600)
                self.assertEqual(configurations[name]["http"]["roots"], ["/ca.pem"])
            # A second time changes nothing: keys are never replaced.
            keys = (Path(state) / "server/keys/signing.key").read_bytes()
            run("bash", DEPLOY / "compose/prepare.sh", state, env={**os.environ, "SHUFFLEDP": str(PROGRAM)})
            self.assertEqual((Path(state) / "server/keys/signing.key").read_bytes(), keys)


@unittest.skipIf(yaml is None, "no PyYAML here (Debian: apt-get install python3-yaml)")
class Replicas(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ROOT / "examples/services"
        self.services = yaml.safe_load((self.folder / "compose.yaml").read_text())["services"]

    def test_the_balancer_and_the_networks_know_every_replica(self) -> None:
        balanced = (self.folder / "haproxy.cfg").read_text()
        for service, port in (("server", 8440), ("shuffler", 8441)):
            for replica in (f"{service}1", f"{service}2"):
                self.assertIn(f"{replica}:{port} check", balanced)
                self.assertIn(replica, self.services["balancer"]["depends_on"])
                self.assertIs(self.services[replica]["read_only"], True)
                # What one reads of the other's database would show who sent what.
                self.assertEqual(set(self.services[replica]["networks"]), {"services", f"{service}-store"})
            self.assertEqual(self.services[f"{service}-database"]["networks"], [f"{service}-store"])
            self.assertIn(service, self.services["balancer"]["networks"]["clients"]["aliases"])

    def test_the_configurations_name_the_databases(self) -> None:
        if not PROGRAM.exists() or not shutil.which("openssl"):
            self.skipTest(f"{PROGRAM} is not built, or no openssl here")
        with tempfile.TemporaryDirectory() as state:
            made = run("bash", self.folder / "replicas.sh", state, env={**os.environ, "SHUFFLEDP": str(PROGRAM)})
            self.assertEqual(made.returncode, 0, made.stderr)
            for service in ("server", "shuffler"):
                shown = run(PROGRAM, service, "show", "--config", f"{state}/{service}/{service}.toml")
                self.assertEqual(shown.returncode, 0, shown.stderr)
                store = tomllib.loads(Path(state, service, f"{service}.toml").read_text())["store"]
                self.assertIn(f"@{service}-database/", store)
                self.assertIn(f"{service}-database", self.services)


@unittest.skipIf(yaml is None, "no PyYAML here (Debian: apt-get install python3-yaml)")
class Kubernetes(unittest.TestCase):
    def test_manifests_are_locked_down_and_consistent(self) -> None:
        for name in SERVICES:
            objects = {item["kind"]: item for item in yaml.safe_load_all((DEPLOY / f"kubernetes/{name}.yaml").read_text())}
            self.assertEqual(set(objects), {"Service", "StatefulSet", "NetworkPolicy"})
            spec = objects["StatefulSet"]["spec"]
            self.assertEqual(spec["replicas"], 1, "a store belongs to one process")
            pod = spec["template"]["spec"]
            labels = spec["template"]["metadata"]["labels"]
            for selector in (
                spec["selector"]["matchLabels"],
                objects["Service"]["spec"]["selector"],
                objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
            ):
                self.assertEqual(selector, labels)
            self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
            self.assertNotIn("fsGroup", pod["securityContext"], "it makes keys readable by a group, which are refused then")
            self.assertIs(pod["automountServiceAccountToken"], False)
            (container,) = pod["containers"]
            security = container["securityContext"]
            self.assertIs(security["readOnlyRootFilesystem"], True)
            self.assertIs(security["allowPrivilegeEscalation"], False)
            self.assertEqual(security["capabilities"], {"drop": ["ALL"]})
            ports = {port["name"] for port in container["ports"]}
            for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"), ("startupProbe", "/healthz")):
                self.assertEqual((container[probe]["httpGet"]["path"], container[probe]["httpGet"]["port"]), (path, "admin"))
            used = {port["targetPort"] for port in objects["Service"]["spec"]["ports"]}
            used |= {port["port"] for rule in objects["NetworkPolicy"]["spec"]["ingress"] for port in rule["ports"]}
            self.assertEqual(used, ports)
            self.assertIs(objects["Service"]["spec"]["publishNotReadyAddresses"], True)
            volumes = {volume["name"] for volume in pod["volumes"]}
            volumes |= {claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]}
            for each in (*pod["initContainers"], container):
                for mount in each["volumeMounts"]:
                    self.assertIn(mount["name"], volumes)
            self.assertEqual(container["args"], [name, "--config", f"/data/{name}.toml"])
            version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
            self.assertEqual(container["image"], f"shuffledp:{version}")


if __name__ == "__main__":
    unittest.main(verbosity=1 if sys.argv[1:] else 0)
