#!/usr/bin/env python3
"""Writes the alerts as an object of the Prometheus operator. Run it after a change of alerts.yml.

.ci/deploy checks that both files have the same alerts.
"""

import pathlib

ALERTS = "deploy/prometheus/alerts.yml"
RULE = "deploy/kubernetes/components/pod-monitor/prometheusrule.yaml"
HEAD = """# The alerts of deploy/prometheus/alerts.yml. Change them there, and then run .ci/deployment_rule.py, which writes this file.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: taquin
  labels:
    app.kubernetes.io/name: taquin
spec:
"""


def rule_text():
    """Returns the text of the PrometheusRule: its head, and the groups of the alerts."""
    text = pathlib.Path(ALERTS).read_text(encoding="utf-8")
    groups = text[text.index("groups:\n") :]
    return HEAD + "".join(f"  {line}" for line in groups.splitlines(keepends=True))


if __name__ == "__main__":
    pathlib.Path(RULE).write_text(rule_text(), encoding="utf-8")
