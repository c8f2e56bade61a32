#!/usr/bin/env python3
"""Checks facts of deploy/ that no schema covers, such as that a pod's grace period exceeds its drain.

    .ci/deployment_facts.py COMPOSE COMPOSE_WITH_WORKERS WORKERS WORKERS_WITH_SETTINGS NATS RENDERED...

The first two files are the output of `docker compose config --format json`, without and with compose.workers.yaml. The others
are that of `kustomize build`: for the workers, for them with components/secret-settings, for nats/single, and for the base, an
overlay, or the base with a component.
Needs PyYAML; .ci/deploy calls this script.
"""

import json
import pathlib
import re
import sys

import yaml
from deployment_alerts import check_alerts
from deployment_common import (
    amount,
    check_mount,
    check_pod_lockdown,
    cores,
    errors,
    objects_of,
    planned_memory,
    port,
    read,
    require,
    sources,
)
from deployment_jobs import check_compose_workers, check_local_jobs, check_nats, check_workers, owner

TIERS = ["small", "standard", "large"]
# Renderings with one pod.
ONE_POD = ("local-jobs", "single-jobs")
# Kinds of which a rendering may have several objects, and the keys of their `spec`, since no schema checks them.
ROUTE_KEYS = {"parentRefs", "hostnames", "rules"}
POLICY_KEYS = {"targetRefs", "loadBalancer", "timeout"}
SEVERAL = {"HTTPRoute": ROUTE_KEYS, "BackendTrafficPolicy": POLICY_KEYS}


class Rendering:
    """The objects that kustomize renders for the base, an overlay, or the base with a component."""

    def __init__(self, place, objects):
        """Takes the objects and checks that no kind occurs twice."""
        self.place = place
        self.objects, self.secrets, self.several = {}, {}, {kind: {} for kind in SEVERAL}
        for item in objects:
            kind = item["kind"]
            if kind in SEVERAL:
                self.several[kind][item["metadata"]["name"]] = item
                continue
            if kind == "Secret":
                self.secrets[item["metadata"]["name"].rpartition("-")[0]] = item
                continue
            self.require(kind not in self.objects, f"a second {kind}")
            self.objects[kind] = item
        template = self.objects["Deployment"]["spec"]["template"]
        self.labels, self.pod = template["metadata"]["labels"], template["spec"]
        (self.container,) = self.pod["containers"]
        self.settings = self.objects["ConfigMap"]["data"]

    def require(self, holds, message):
        """Records an error of this rendering unless a fact holds."""
        require(self.place, holds, message)

    def has(self, component):
        """True if a component belongs to this rendering."""
        return self.place in (f"with-{component}", "production-all")

    def spec(self, kind):
        """Returns the `spec` of an object, empty if there is no such object."""
        return self.objects.get(kind, {}).get("spec", {})

    def name(self, kind):
        """Returns the name of an object."""
        return self.objects[kind]["metadata"]["name"]

    def check(self):
        """Checks all facts of this rendering."""
        self.check_settings()
        self.check_selectors()
        self.check_replicas()
        self.check_spread()
        self.check_ports()
        self.check_shutdown()
        self.check_resources()
        self.check_lockdown()
        self.check_mounts()
        self.check_secret()
        self.check_monitor()
        self.check_gateway()

    def check_settings(self):
        """The ConfigMap reaches the pod, and no service link sets TAQUIN_PORT."""
        source = sources(self.name("ConfigMap"), self.secrets.get("taquin-settings"))
        self.require(
            self.container["envFrom"] == source, "the ConfigMap does not reach the pod, or its secret settings"
        )
        self.require(
            "TAQUIN_PORT" not in self.settings and self.pod["enableServiceLinks"] is False,
            "TAQUIN_PORT would be set, by the service link or by the ConfigMap",
        )
        tables, ready = self.settings.get("TAQUIN_TABLES", "standard"), self.settings["TAQUIN_READY"]
        self.require("TAQUIN_TOKEN_FILE" in self.settings or "TAQUIN_JOBS" not in self.settings, "jobs without tokens")
        tiers = TIERS if self.place == "local-jobs" else TIERS[1:]
        self.require(ready == tables and ready in tiers, "a pod is ready before it is fast")
        self.require(self.spec("Deployment")["minReadySeconds"] >= 5, "a rollout does not wait for steady pods")
        self.require(amount(self.settings["TAQUIN_MAX_CONNECTION_AGE"]) <= 600, "connections stay with old pods")

    def check_selectors(self):
        """Every selector matches these pods, and all objects share one namespace."""
        selectors = {
            "Deployment": self.spec("Deployment")["selector"]["matchLabels"],
            "Service": self.spec("Service")["selector"],
            "PodDisruptionBudget": self.spec("PodDisruptionBudget")["selector"]["matchLabels"],
            "NetworkPolicy": self.spec("NetworkPolicy")["podSelector"]["matchLabels"],
        }
        for number, constraint in enumerate(self.pod["topologySpreadConstraints"]):
            selectors[f"topology spread {number}"] = constraint["labelSelector"]["matchLabels"]
        for kind, selector in selectors.items():
            self.require(selector and selector.items() <= self.labels.items(), f"{kind} selects other pods")
        items = [item for kind, item in self.objects.items() if kind != "Namespace"]
        items += [item for named in (self.secrets, *self.several.values()) for item in named.values()]
        namespaces = {item["metadata"].get("namespace") for item in items}
        self.require(namespaces == {self.name("Namespace")}, "objects in other namespaces")
        self.require(self.pod["serviceAccountName"] == self.name("ServiceAccount"), "no such service account")

    def check_replicas(self):
        """The autoscaler alone decides the number of pods, and keeps at least two."""
        scaler = self.spec("HorizontalPodAutoscaler")
        target = scaler["scaleTargetRef"]
        self.require(
            (target["kind"], target["name"]) == ("Deployment", self.name("Deployment")),
            "the autoscaler has another target",
        )
        self.require("replicas" not in self.spec("Deployment"), "`replicas` would override the autoscaler")
        least = 1 if self.place in ONE_POD else 2
        self.require(scaler["minReplicas"] >= least, "a single pod leaves none during a drain")
        # A directory of jobs belongs to one process.
        alone = "TAQUIN_JOBS" in self.settings and "TAQUIN_NATS" not in self.settings
        strategy = self.spec("Deployment")["strategy"]
        self.require(
            (scaler["maxReplicas"] == 1 and strategy == {"type": "Recreate"}) if alone else "rollingUpdate" in strategy,
            "two pods would have the directory of the jobs, or a rollout leaves none",
        )
        cpu, *others = scaler["metrics"]
        self.require(cpu["type"] == "Resource" and cpu["resource"]["name"] == "cpu", "no target for CPU")
        # While a metric is unknown, nothing scales down.
        self.require(bool(others) == (self.has("queue-metric")), "a metric that needs an adapter")
        # A percentage is rounded up, so a drain can go on with two pods, and is not slow with twenty.
        self.require(self.spec("PodDisruptionBudget")["maxUnavailable"] == "10%", "drains are slow or stop")

    def check_spread(self):
        """Pods prefer different zones and nodes, and are never Pending for it."""
        constraints = self.pod["topologySpreadConstraints"]
        keys = [item["topologyKey"] for item in constraints]
        self.require(keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"], f"pods spread over {keys}")
        for item in constraints:
            expected = {"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", "nodeTaintsPolicy": "Honor"}
            self.require(expected.items() <= item.items(), "pods may be Pending, or tainted nodes count")
        distribution = self.spec("Service").get("trafficDistribution")
        expected = "PreferClose" if self.has("same-zone") else None
        self.require(distribution == expected, f"trafficDistribution {distribution}, expected {expected}")

    def check_ports(self):
        """Ports have the numbers of the settings, and all references use their names."""
        ports = {item["name"]: item["containerPort"] for item in self.container["ports"]}
        expected = {"http": 8080, "admin": port(self.settings["TAQUIN_ADMIN_LISTEN"])}
        self.require(ports == expected, f"ports {ports}, expected {expected}")
        named = [item["targetPort"] for item in self.spec("Service")["ports"]]
        named += [item["port"] for rule in self.spec("NetworkPolicy")["ingress"] for item in rule["ports"]]
        named += [item["port"] for item in self.spec("PodMonitor").get("podMetricsEndpoints", [])]
        probes = {"startupProbe": "/readyz", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
        for probe, route in probes.items():
            request = self.container[probe]["httpGet"]
            named.append(request["port"])
            self.require(request["path"] == route, f"{probe} requests {request['path']}")
        self.require(set(named) == ports.keys(), f"ports are called {sorted(set(map(str, named)))}")

    def check_shutdown(self):
        """Every search can end, and load balancers have the time to remove the pod."""
        pause = self.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        self.require(pause >= (15 if self.place.startswith("production") else 5), "load balancers still send requests")
        grace = amount(self.settings["TAQUIN_SHUTDOWN_GRACE"])
        self.require(grace > amount(self.settings.get("TAQUIN_MAX_TIME", "60s")), "a shutdown stops searches")
        drain = pause + grace
        self.require(self.pod["terminationGracePeriodSeconds"] >= drain + 5, "the kubelet would cut the drain short")

    def check_resources(self):
        """Memory and CPU fit the settings."""
        limits, requests = (self.container["resources"][key] for key in ("limits", "requests"))
        limit, planned = amount(limits["memory"]), planned_memory(self.settings)
        self.require(limit >= planned, f"memory: limit {limit:.0f} bytes, planned {planned:.0f}")
        self.require(limit == amount(requests["memory"]), "memory: the limit differs from the request")
        self.require("cpu" not in limits, "a limit of CPU only adds latency")
        # Those of the local overlays share two cores with the system's pods.
        enough = cores(requests["cpu"]) >= int(self.settings["TAQUIN_WORKERS"]) or self.place.startswith("local")
        self.require(enough, "fewer cores than workers")
        pinned = re.search("@sha256:[0-9a-f]{64}$", self.container["image"])
        self.require(pinned or not self.place.startswith("production"), f"{self.container['image']} has no digest")

    def check_lockdown(self):
        """Pod and container have no more rights than they need."""
        check_pod_lockdown(self.place, self.pod)
        policy = self.spec("NetworkPolicy")
        has_jobs = "TAQUIN_NATS" in self.settings
        self.require(bool(policy["egress"]) == has_jobs, "egress is allowed, or jobs have none")
        clients, monitoring = policy["ingress"]
        blocks = [item["ipBlock"] for item in clients["from"] if "ipBlock" in item]
        self.require(bool(blocks) == (self.has("load-balancer")), "addresses beyond the cluster's pods")
        self.require(all("ipBlock" not in item for item in monitoring["from"]), "the admin port is open to addresses")

    def check_mounts(self):
        """Each setting that names a file or directory has a mount with the right access."""
        for setting, writable in (("TAQUIN_TABLE_CACHE", True), ("TAQUIN_JOBS", True), ("TAQUIN_TOKEN_FILE", False)):
            check_mount(self.place, self.pod, self.settings.get(setting), writable)

    def check_secret(self):
        """The names of secrets end with hashes of their contents, so that a change is a rollout."""
        for kind, secret in self.secrets.items():
            name = secret["metadata"]["name"]
            self.require(re.fullmatch(f"{kind}-[a-z0-9]{{10}}", name), f"{name} has no hash")
        mounted = [item["secret"]["secretName"] for item in self.pod.get("volumes", []) if "secret" in item]
        tokens = self.secrets.get("taquin-tokens")
        names = [tokens["metadata"]["name"]] if tokens else []
        self.require(mounted == names, f"secrets {mounted} are mounted, and {names} exist")
        self.require(bool(names) == ("TAQUIN_TOKEN_FILE" in self.settings), "tokens without a secret, or the reverse")
        if tokens:
            files = {self.settings["TAQUIN_TOKEN_FILE"].rpartition("/")[2]}
            self.require(tokens["data"].keys() == files, f"{names} has other files")

    def check_monitor(self):
        """The PodMonitor, if there is one, scrapes service and workers, and their names are the jobs."""
        if "PodMonitor" not in self.objects:
            return
        monitor, label = self.spec("PodMonitor"), "app.kubernetes.io/name"
        names = {"key": label, "operator": "In", "values": [self.labels[label], "taquin-worker"]}
        self.require(
            monitor.keys() <= {"jobLabel", "selector", "podMetricsEndpoints"}
            and [item["path"] for item in monitor["podMetricsEndpoints"]] == ["/metrics"]
            and monitor["selector"] == {"matchExpressions": [names]}
            and monitor["jobLabel"] == label,
            'the PodMonitor does not scrape /metrics as job="taquin" and job="taquin-worker"',
        )

    def check_gateway(self):
        """The routes, if there are any, lead to the Service, and each has one policy that fits its requests."""
        routes, policies = self.several["HTTPRoute"], self.several["BackendTrafficPolicy"]
        for kind, named in self.several.items():
            for name, item in named.items():
                self.require(item["spec"].keys() == SEVERAL[kind], f"{kind} {name} has other fields")
        port = self.spec("Service")["ports"][0]["port"]
        backend = {"name": self.name("Service"), "port": port}
        for name, route in routes.items():
            (rule,) = route["spec"]["rules"]
            self.require(rule["backendRefs"] == [backend], f"route {name} leads elsewhere")
            self.require(rule["timeouts"] == {"request": "0s"}, f"route {name} would cut long responses")
            methods = [match.get("method") for match in rule.get("matches", [])]
            self.require(methods == (["GET", "HEAD"] if name == "taquin-get" else []), f"route {name}: {methods}")
        targets = {policy["spec"]["targetRefs"][0]["name"]: policy["spec"] for policy in policies.values()}
        self.require(targets.keys() == routes.keys() and len(policies) == len(routes), "a route without a policy")
        # Envoy Gateway accepts a slow start only without a hash.
        hashed = {"type": "ConsistentHash", "consistentHash": {"type": "Header", "header": {"name": ":path"}}}
        least = {"type": "LeastRequest", "slowStart": {"window": "30s"}}
        idle = amount(self.settings.get("TAQUIN_KEEP_ALIVE_TIMEOUT", "75s"))
        age = 0.9 * amount(self.settings["TAQUIN_MAX_CONNECTION_AGE"])
        for name, spec in targets.items():
            timeouts = spec["timeout"]["http"]
            first = amount(timeouts["connectionIdleTimeout"]) < idle and amount(timeouts["maxConnectionDuration"]) < age
            self.require(first, f"policy of {name}: Taquin ends connections before Envoy does")
            expected = hashed if name == "taquin-get" else least
            self.require(spec["loadBalancer"] == expected, f"policy of {name}: {spec['loadBalancer']}")
            (target,) = spec["targetRefs"]
            self.require(
                (target["group"], target["kind"]) == ("gateway.networking.k8s.io", "HTTPRoute"),
                f"policy of {name} has another target",
            )


def check_indexed_job(base):
    """Checks that the pods of the Job share its volume and its work, and are not those of the service."""
    place = "indexed-job"
    claim, job = yaml.safe_load_all(read("deploy/examples/indexed-job.yaml"))
    spec, template = job["spec"], job["spec"]["template"]
    pod, (container,) = template["spec"], template["spec"]["containers"]
    check_pod_lockdown(place, pod)
    shard = f"--shard=$(JOB_COMPLETION_INDEX)/{spec['completions']}"
    require(place, shard in container["args"], "the shares are not as many as the completions")
    require(place, spec["completionMode"] == "Indexed" and pod["restartPolicy"] == "Never", "pods have no index")
    (volume,), (mount,) = pod["volumes"], container["volumeMounts"]
    require(
        place,
        claim["spec"]["accessModes"] == ["ReadWriteMany"]
        and volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        and volume["name"] == mount["name"]
        and f"--output={mount['mountPath']}/" in "".join(container["args"])
        and pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"],
        "the pods cannot write to one volume",
    )
    settings = {item["name"]: item["value"] for item in container["env"]}
    cores = amount(container["resources"]["requests"]["cpu"])
    require(place, int(settings["TAQUIN_WORKERS"]) == cores, "workers and cores differ")
    require(place, pod["enableServiceLinks"] is False, "TAQUIN_PORT would be set by the service link")
    require(place, container["image"] == base.container["image"], "the image differs from that of the base")
    selector = base.spec("Service")["selector"].items()
    require(place, not selector <= template["metadata"]["labels"].items(), "the Service selects its pods")


def check_compose(place, services):
    """Checks the services of Compose, and that Prometheus scrapes the admin port."""
    for name, service in services.items():
        locked = service.get("read_only") and service.get("cap_drop") == ["ALL"]
        require(name, locked and service.get("security_opt") == ["no-new-privileges:true"], "not locked down")
        require(name, service.get("mem_limit") and service.get("healthcheck"), "no memory limit or health check")
        pinned = "build" in service or re.search(r":v?\d+\.\d+\.\d+(-alpine)?$", service["image"])
        require(name, pinned, f"{service.get('image')} is not pinned")
        local = all(item.get("host_ip") == "127.0.0.1" for item in service.get("ports", []))
        require(name, local, "a port is published beyond loopback")
        for volume in service.get("volumes", []):
            found = volume["type"] != "bind" or pathlib.Path(volume["source"]).exists()
            require(name, found, f"{volume['source']} does not exist")
        settings = service.get("environment", {})
        if "TAQUIN_WORKERS" in settings:
            require(name, int(service["mem_limit"]) >= planned_memory(settings), "too little memory")
            grace = amount(settings["TAQUIN_SHUTDOWN_GRACE"])
            require(name, amount(service["stop_grace_period"]) >= grace + 5, "a shutdown would be cut short")
    settings = services["taquin"]["environment"]
    require(place, "TAQUIN_PORT" not in settings, "TAQUIN_PORT is set")
    admin = port(settings["TAQUIN_ADMIN_LISTEN"])
    job = {"job_name": "taquin", "static_configs": [{"targets": [f"taquin:{admin}"]}]}
    jobs = yaml.safe_load(read("deploy/prometheus/prometheus.yml"))["scrape_configs"]
    require("prometheus.yml", job in jobs, "it does not scrape the admin port")


def main():
    """Exits with 1 and a list of errors if a fact does not hold."""
    compose, compose_workers, workers, workers_settings, nats, *rendered = sys.argv[1:]
    objects = {pathlib.Path(path).stem: objects_of(path) for path in rendered}
    local_jobs = objects["local-jobs"]
    objects["local-jobs"] = [item for item in local_jobs if owner(item) == "taquin"]
    renderings = {place: Rendering(place, items) for place, items in objects.items()}
    for rendering in renderings.values():
        rendering.check()
    check_indexed_job(renderings["base"])
    trigger = check_workers("workers", objects_of(workers), renderings["production-jobs"])
    check_workers("workers-settings", objects_of(workers_settings), renderings["production-jobs"])
    check_nats(objects_of(nats), renderings["production-jobs"], trigger)
    check_local_jobs(local_jobs, renderings["local-jobs"])
    services = {}
    for path in (compose, compose_workers):
        place = pathlib.Path(path).stem
        services[place] = json.loads(read(path))["services"]
        check_compose(place, services[place])
    check_compose_workers(services["compose"], services["compose-workers"])
    alerts = check_alerts()
    if errors:
        sys.exit("\n".join(f"deploy: FAILED: {error}" for error in errors))
    print(
        f"deploy: facts of {len(rendered)} renderings, workers, NATS, a Job, "
        f"{len(services['compose-workers'])} compose services and {alerts} alerts: ok"
    )


main()
