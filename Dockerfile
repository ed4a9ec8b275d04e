# The image of bridge and standby. docs/internals/processes.md, "In containers", says what it declares and why; README.md and
# docs/operation.md how to use it.
# The base is pinned: the same Dockerfile makes the same system. This is Node.js 22.23.3; docs/internals/processes.md says how it is
# renewed. Another base, for example of your own registry: --build-arg NODE_IMAGE=… (Debian with Node.js 20.12 or newer and its npm).
ARG NODE_IMAGE=node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c

FROM ${NODE_IMAGE} AS package
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# What everybody installs. It needs no other package, so that unpacking it installs it.
RUN npm pack --pack-destination /tmp && mkdir /app && tar -xzf /tmp/*.tgz -C /app --strip-components=1
# 1 adds the SDK of the agent claude (about 380 MB).
ARG WITH_CLAUDE=
RUN if [ "$WITH_CLAUDE" = 1 ]; then cd /app && npm run add-claude -- --ignore-scripts; fi

FROM ${NODE_IMAGE}
# git and ssh are for the agents; tini hands signals on and reaps what agents leave behind.
RUN apt-get update -q \
  && apt-get install -qy --no-install-recommends ca-certificates git openssh-client tini \
  && rm -rf /var/lib/apt/lists/*
# Agents that come as packages of npm, such as @openai/codex.
ARG AGENT_PACKAGES=
RUN if [ -n "$AGENT_PACKAGES" ]; then npm install --global $AGENT_PACKAGES && npm cache clean --force; fi
# As whom the agents work: the owner of the projects on the host. The bridge is another user, watchkeeper.
ARG AGENT_UID=1000
ARG AGENT_GID=1000
# /data holds what has to be kept; a volume made from these folders gets their owner.
RUN groupmod --non-unique --gid "$AGENT_GID" node \
  && usermod --non-unique --uid "$AGENT_UID" --gid "$AGENT_GID" node \
  && groupadd --gid 10001 watchkeeper \
  && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin watchkeeper \
  && mkdir -p /data/logs /projects /private/config /private/redis /private/secrets \
  && ln -s /private/config /config \
  && chown -R watchkeeper:watchkeeper /data /private \
  && chmod 0700 /data/logs /private \
  && chown -R node:node /projects /home/node
COPY --from=package /app /app
RUN ln -s /app/deploy/container-entrypoint /usr/local/bin/watchkeeper
# DIES_WHOLE holds because the bridge is the child of process 1, and the container ends with it.
ENV NODE_ENV=production \
  HOME=/home/node \
  WATCHKEEPER_AGENT_USER=node \
  WATCHKEEPER_LOGS=/data/logs \
  WATCHKEEPER_CONTAINER_DIES_WHOLE=yes \
  HEALTH_PORT=8787
# Root only until the entry point has prepared the folders: then the bridge is watchkeeper, and its agents are node.
WORKDIR /projects
# Cheaper than a doctor every half minute, and it knows more: what this very process last did.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.HEALTH_PORT+'/readyz').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["tini", "--", "watchkeeper"]
CMD ["bridge"]
