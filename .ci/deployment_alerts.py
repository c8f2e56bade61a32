"""Checks the alerts: tests, sections of the manual, and the object of the Prometheus operator."""

import re

import yaml
from deployment_common import read, require
from deployment_rule import ALERTS, RULE, rule_text


def check_alerts():
    """Checks that each alert has a test and a section in docs/OPERATING.md. Returns their number."""
    manual = read("docs/OPERATING.md")
    tests = read("deploy/prometheus/alerts_test.yml")
    groups = yaml.safe_load(read(ALERTS))["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    for rule in rules:
        name = rule["alert"]
        require(name, rule["labels"]["severity"] in ("page", "ticket"), "unknown severity")
        require(name, rule["annotations"]["runbook"] == f"docs/OPERATING.md#{name.lower()}", "wrong runbook link")
        require(name, f"### {name}\n" in manual, "no section in docs/OPERATING.md")
        require(name, f"alertname: {name}\n" in tests, "no test")
    require("pod-monitor", read(RULE) == rule_text(), "other alerts; run .ci/deployment_rule.py")
    names = {rule["alert"] for rule in rules}
    for heading in re.findall(r"^### (Taquin\w+)$", manual, re.MULTILINE):
        require(heading, heading in names, "docs/OPERATING.md describes an unknown alert")
    return len(rules)
