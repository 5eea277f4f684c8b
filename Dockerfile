# Two stages: the first compiles the wheel, the second has only Python and what the wheel needs.
# Both bases need the same Python (3.11 to 3.14). The first also needs ensurepip, and gcc or Debian's apt-get.
ARG BASE=python:3.13-slim-bookworm
ARG BUILD_BASE=${BASE}

FROM ${BUILD_BASE} AS build
RUN command -v gcc > /dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends gcc libc6-dev; }
WORKDIR /source
RUN python3 -m venv /build && python3 -m venv --without-pip /opt/relaybook
COPY requirements requirements
# mypyc reads the types of the dependencies, so the build has them, too.
RUN /build/bin/pip install --quiet --no-cache-dir --require-hashes -r requirements/compile.txt -r requirements/image.txt && \
    /build/bin/pip --python /opt/relaybook install --quiet --no-cache-dir --no-compile --require-hashes -r requirements/image.txt
COPY . .
RUN PATH=/build/bin:$PATH RELAYBOOK_COMPILE=1 python3 -m hatchling build -t wheel -d /wheel && \
    /build/bin/pip --python /opt/relaybook install --quiet --no-cache-dir --no-compile --no-deps /wheel/*.whl
# Remove files that the program never opens: SQLite's own tools, a second backend of zstandard, stubs and sources of
# compiled modules, and the lexers of pygments, which rich depends on. Bytecode is written now because the root of a
# container may be read-only.
RUN cd /opt/relaybook/lib/python3*/site-packages && \
    rm -rf apsw/sqlite_extra_binaries zstandard/_cffi.*.so && \
    find . -name '*.py[ix]' -delete && \
    find pygments/lexers -name '[a-z]*.py' ! -name special.py -delete && \
    find . -name '*.so' -exec strip --strip-unneeded {} + && \
    /opt/relaybook/bin/python -m compileall -q --invalidation-mode unchecked-hash .

FROM ${BASE}
LABEL org.opencontainers.image.title="Relaybook" \
      org.opencontainers.image.description="A logging proxy for LLM APIs" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/relaybook /opt/relaybook
# The volume belongs to the user, even if Docker creates it or the root is read-only.
RUN mkdir /data && chown 10001:10001 /data && chmod 0700 /data
ENV PATH=/opt/relaybook/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    RELAYBOOK_DATA=/data/relaybook \
    RELAYBOOK_LISTEN=0.0.0.0:4100 \
    RELAYBOOK_DASHBOARD=0.0.0.0:4101
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 4100 4101
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:' + os.environ['RELAYBOOK_LISTEN'].rpartition(':')[2] + '/healthz', timeout=4)"]
CMD ["relaybook", "serve"]
