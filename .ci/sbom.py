#!/usr/bin/env python3
"""Checks the software bill of materials of the container image.

    .ci/sbom.py BOM TREE VERSION

BOM is the CycloneDX file of the image, TREE the output of `cargo tree --prefix none --format '{p}'`,
VERSION the version of taquin. Every crate that Cargo builds into the binary must be listed, and every
listed crate must be in Cargo.lock with the same version and checksum, and have a license.
"""

import json
import pathlib
import sys
import tomllib

# Linked statically, but not crates.
SYSTEM_LIBRARIES = ("glibc", "rust-std")


def main():
    """Exits with 1 and a list of errors if the bill is wrong."""
    bom_path, tree_path, version = sys.argv[1:]
    bom = json.loads(pathlib.Path(bom_path).read_text(encoding="utf-8"))
    lock = tomllib.loads(pathlib.Path("Cargo.lock").read_text(encoding="utf-8"))
    tree = pathlib.Path(tree_path).read_text(encoding="utf-8").splitlines()
    locked = {(package["name"], package["version"]): package for package in lock["package"]}
    listed = {(component["name"], component["version"]): component for component in bom["components"]}
    built = {(name, number.removeprefix("v")) for name, number, *_ in map(str.split, tree)} - {("taquin", version)}

    errors = []
    subject = bom["metadata"]["component"]
    if (bom["bomFormat"], subject["name"], subject["version"]) != ("CycloneDX", "taquin", version):
        errors.append(f"it describes {subject['name']} {subject['version']}")
    for library in SYSTEM_LIBRARIES:
        if not [key for key in list(listed) if key[0] == library and listed.pop(key)]:
            errors.append(f"{library} is missing")
    for key, component in listed.items():
        sums = [entry["content"] for entry in component.get("hashes", []) if entry["alg"] == "SHA-256"]
        # The crates of this repository have no checksums.
        locked_sums = [locked[key]["checksum"]] if "checksum" in locked.get(key, {}) else []
        if key not in locked or sums != locked_sums:
            errors.append(f"{key} differs from Cargo.lock")
        if not component.get("licenses"):
            errors.append(f"{key} has no license")
    errors += [f"{key} is missing" for key in sorted(built - listed.keys())]
    if errors:
        sys.exit("image: FAILED: SBOM: " + "; ".join(errors))
    print(
        f"image: SBOM, CycloneDX {bom['specVersion']}: {len(listed)} crates as in Cargo.lock, "
        f"including all {len(built)} in the binary, and {' and '.join(SYSTEM_LIBRARIES)}: ok"
    )


main()
