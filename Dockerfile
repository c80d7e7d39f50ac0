# The command line alone: base dependencies, no compiler, no shell script, no user.
#   docker build -t conformance .
#   docker run --rm -v "$PWD:/work:ro" conformance check streams
FROM python:3.13-slim AS build
COPY . /source
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --disable-pip-version-check /source \
    && /venv/bin/pip uninstall --yes --disable-pip-version-check pip

FROM python:3.13-slim
COPY --from=build /venv /venv
# No user has this number, so nothing in the image can be written by it.
USER 65532:65532
WORKDIR /work
ENV HOME=/tmp PYTHONDONTWRITEBYTECODE=1
ENTRYPOINT ["/venv/bin/conformance"]
