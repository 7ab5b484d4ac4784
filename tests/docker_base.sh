#!/bin/sh
# Make the image that the Dockerfile starts from out of Debian's packages, for machines that reach
# no image registry: `tests/docker_base.sh [TAG]`, as root, with debootstrap and a Docker daemon.
# DEBIAN_MIRROR names a mirror other than the one that debootstrap knows. Like the official image it has `python` and `pip` on the path, and pip may install freely.
set -eu

tag=${1:-python:3.11-slim-bookworm}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=python3,python3-pip,ca-certificates \
    bookworm "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 1; }
rm -f "$root.log"
ln -s /usr/bin/python3 "$root/usr/local/bin/python"
rm -f "$root"/usr/lib/python3*/EXTERNALLY-MANAGED
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/*
tar -C "$root" -c . | docker import --change 'CMD ["python"]' \
    --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin' - "$tag"
