#!/usr/bin/env python3
"""Prints a module that checks custom resources: its types by TypeScript, which knows each field, and its values if it is run.

    .ci/custom_resources.py RENDERED...

The npm packages @kubernetes-models/… are made from the definitions of the operators. Needs PyYAML.
"""

import json
import pathlib
import sys

import yaml

# By the group of a resource.
PACKAGES = {
    "gateway.envoyproxy.io": "envoy-gateway",
    "gateway.networking.k8s.io": "gateway-api",
    "keda.sh": "keda",
    "monitoring.coreos.com": "prometheus-operator",
}

lines = {}
for path in sys.argv[1:]:
    for item in yaml.safe_load_all(pathlib.Path(path).read_text(encoding="utf-8")):
        version, kind = item.pop("apiVersion"), item.pop("kind")
        package = PACKAGES.get(version.partition("/")[0])
        if package:
            # Most renderings have the same.
            lines.setdefault(
                f"new models.{kind}({json.dumps(item)}).validate();", f"@kubernetes-models/{package}/{version}"
            )
for number, (line, module) in enumerate(lines.items()):
    print(f'import * as models{number} from "{module}";\n{line.replace("models", f"models{number}", 1)}')
