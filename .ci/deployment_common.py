"""What the checks of deploy/ share: the list of errors, amounts, the memory plan, and the rights of pods."""

import math
import pathlib
import re

import yaml

UNITS = {"": 1, "Mi": 1 << 20, "Gi": 1 << 30, "MiB": 1 << 20, "GiB": 1 << 30, "s": 1, "m": 60}
# Memory of the process with its tables while they are built, by TAQUIN_TABLES (docs/OPERATING.md, Size).
BASE_MEMORY = {"small": "64MiB", "standard": "208MiB", "large": "900MiB"}

errors = []


def require(place, holds, message):
    """Records an error unless a fact holds."""
    if not holds:
        errors.append(f"{place}: {message}")


def read(path):
    """Returns the text of a file."""
    return pathlib.Path(path).read_text(encoding="utf-8")


def objects_of(path):
    """Returns the objects of a YAML file."""
    return list(yaml.safe_load_all(read(path)))


def amount(text):
    """Returns a number with its unit in bytes or seconds."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    return float(number) * UNITS[unit]


def cores(text):
    """Returns a number of cores, which may be in thousandths."""
    return float(text[:-1]) / 1000 if str(text).endswith("m") else float(text)


def planned_memory(settings):
    """Returns the bytes that give every worker its full share, as docs/OPERATING.md plans them."""
    searches = int(settings["TAQUIN_WORKERS"]) * amount(settings.get("TAQUIN_SEARCH_MEMORY", "512MiB"))
    # Searches that store no nodes, and small ones; then those of bulk work.
    searches += amount("64MiB") + max(amount("32MiB"), searches / 32)
    bulk_workers = math.ceil(int(settings["TAQUIN_WORKERS"]) * float(settings.get("TAQUIN_BULK_SHARE", "1")))
    searches += bulk_workers * amount("32MiB")
    base = amount(BASE_MEMORY[settings.get("TAQUIN_TABLES", "standard")])
    tables = amount(settings.get("TAQUIN_TABLE_MEMORY", "208MiB"))
    cache = amount(settings.get("TAQUIN_CACHE_MEMORY", "32MiB"))
    return (searches + base + tables + cache) / 0.9  # a tenth stays free


def sources(config_map, secret):
    """Returns the `envFrom` of a container: a ConfigMap by its name, and a secret that overrides it, if there is one."""
    refs = [{"configMapRef": {"name": config_map}}]
    return [*refs, {"secretRef": {"name": secret["metadata"]["name"]}}] if secret else refs


def port(address):
    """Returns the port of a listening address."""
    return int(address.rpartition(":")[2])


def check_pod_lockdown(place, pod):
    """Checks that a pod and its container have no more rights than they need."""
    (container,) = pod["containers"]
    expected = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    require(place, container["securityContext"] == expected, "the container is not locked down")
    context = pod["securityContext"]
    require(
        place,
        context["runAsNonRoot"] is True
        and context["runAsUser"] == 65532
        and context["seccompProfile"]["type"] == "RuntimeDefault",
        "the pod is not locked down",
    )
    require(place, pod["automountServiceAccountToken"] is False, "a token of the API server is mounted")


def check_mount(place, pod, path, writable):
    """Checks that a file or directory, if there is one, has a mount with the right access. Buckets have none."""
    if path is None or "://" in path:
        return
    (container,) = pod["containers"]
    volumes = {item["name"] for item in pod.get("volumes", [])}
    under = [item for item in container.get("volumeMounts", []) if f"{path}/".startswith(item["mountPath"] + "/")]
    require(
        place,
        under and under[0]["name"] in volumes and writable != under[0].get("readOnly", False),
        f"{path}: no mount with the right access",
    )
    require(place, pod["securityContext"].get("fsGroup") == 65532, f"{path}: the user has no access")
