# Two images. `web` serves and works off diagnoses, without torch. `sandbox` holds torch: user
# scripts run in it, and the launcher that starts them.
ARG BASE=python:3.11-slim-bookworm
ARG NODE=node:20-slim

# The form's editor. A base without npm gives an image whose form is a plain text field.
FROM ${NODE} AS editor
WORKDIR /src/editor
COPY editor ./
RUN mkdir -p ../app/static && \
    if command -v npm; then npm ci --no-audit --no-fund && npm run build; fi

FROM ${BASE} AS web
WORKDIR /src
COPY pyproject.toml constraints.txt README.md ./
COPY gradmend gradmend
COPY app app
COPY --from=editor /src/app app
COPY analyzers analyzers
COPY provenance provenance
COPY sandbox sandbox
RUN pip install --no-cache-dir -c constraints.txt '.[server,postgres]'
# The directories of volumes are made here, so that these start with the right owner.
RUN install -d -m 0770 -o 65534 -g 65534 /var/lib/gradmend /run/gradmend
USER 65534:65534
WORKDIR /var/lib/gradmend
ENV GRADMEND_HOST=0.0.0.0 GRADMEND_VAR_DIR=/var/lib/gradmend GRADMEND_LOG_FORMAT=json \
    GRADMEND_SANDBOX=none PYTHONUNBUFFERED=1 HOME=/tmp
EXPOSE 8000
CMD ["gradmend", "serve"]

FROM web AS sandbox
USER root
ARG TORCH_INDEX=
# Empty for an image with torch and NumPy only, about a gigabyte smaller.
ARG PACKAGES=,packages
RUN cd /src && pip install --no-cache-dir -c constraints.txt \
    ${TORCH_INDEX:+--extra-index-url ${TORCH_INDEX}} ".[sandbox,container${PACKAGES}]"
# What runs in a container of its own is started as `python -m sandbox...`.
ENV PYTHONPATH=/src
USER 65534:65534
CMD ["gradmend", "sandbox", "--socket", "/run/gradmend/sandbox.sock"]
