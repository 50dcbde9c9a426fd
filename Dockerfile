# The app on the invented city, for CPUs: read-only, not as root, and nothing is asked of the network once it is built.
# `make docker` builds it; docs/operations.md says how to start it.
FROM python:3.12.11-slim-bookworm AS build
# Where pip finds PyTorch without CUDA; PyPI's own for Linux is gigabytes larger.
ARG PIP_EXTRA_INDEX_URL
WORKDIR /source
COPY . .
RUN python -m venv /opt/recap && /opt/recap/bin/pip install --no-cache-dir --disable-pip-version-check ".[app]"

FROM python:3.12.11-slim-bookworm
RUN useradd --create-home --uid 10001 recap
COPY --from=build /opt/recap /opt/recap
USER 10001
WORKDIR /home/recap
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["/opt/recap/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
ENTRYPOINT ["/opt/recap/bin/recap", "app", "--address", "0.0.0.0", "--read-only"]
