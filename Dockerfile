# Reelay on one machine: the service, its page and its tools in one image. See docs/operating-one-machine.md.
ARG DEBIAN=trixie
# The official images without Docker Hub's limit of pulls, which builds in AWS share. Docker Hub's own: docker.io/library
ARG REGISTRY=public.ecr.aws/docker/library

# Runs on the builder's processor for any target: nothing of the target is executed.
FROM --platform=$BUILDPLATFORM ${REGISTRY}/node:24-${DEBIAN}-slim AS build
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates python3-pip \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
ARG TARGETARCH
RUN node scripts/build-container.ts --architecture "$TARGETARCH" --out /out

# Of Node's image only the program: no npm, no yarn, nothing that installs anything.
FROM ${REGISTRY}/node:24-${DEBIAN}-slim AS node
FROM ${REGISTRY}/debian:${DEBIAN}-slim AS debian

# Without symbol table and debugging information, a seventh of the file. It runs on the builder's processor.
FROM --platform=$BUILDPLATFORM ${REGISTRY}/node:24-${DEBIAN}-slim AS stripped
COPY --from=node /usr/local/bin/node /node
COPY --from=build /out/one-machine/strip-elf.ts /
RUN ["node", "/strip-elf.ts", "/node"]

# The libraries that the programs link to, and those that limit child processes: the image has no shell and no package
# manager. It runs on the builder's processor, so that a build for another one needs no emulation.
FROM --platform=$BUILDPLATFORM ${REGISTRY}/debian:${DEBIAN}-slim AS system
COPY --from=debian / /debian
WORKDIR /debian
RUN mkdir --parents /system/dev /system/proc /system/sys \
  && install --directory --mode=1777 /system/tmp \
  && install --directory --mode=0777 /owned/data \
  && cp --archive --parents lib* usr/lib*/ld-linux-* usr/bin/perl usr/bin/setpriv \
    etc/group etc/os-release etc/passwd usr/lib/os-release \
    $(find usr/lib/*-linux-gnu -maxdepth 1 -regextype posix-extended -regex \
      '.*/(ld-linux-.*|lib(c|m|mvec|dl|pthread|rt|util|resolv|gcc_s|stdc\+\+|z|crypt|cap-ng)\.so\..*)') \
    /system

FROM scratch
LABEL org.opencontainers.image.title="Reelay" \
  org.opencontainers.image.description="Turns a media link into metadata and renditions and streams the one you choose" \
  org.opencontainers.image.licenses="MIT"
COPY --from=system /system/ /
COPY --from=stripped /node /usr/local/bin/node
# With a pinned hash: packages/yt-dlp-worker/src/ffmpeg/ffmpeg-providers.ts.
COPY --from=build --chmod=0755 /out/one-machine/ffmpeg /usr/local/bin/ffmpeg
# A new volume takes over owner and mode of the folder that it covers: any user may run the image. Not `/owned/data/ /data/`, which
# would leave the mode out.
COPY --from=system --chown=1000:1000 /owned/ /
# With the newest yt-dlp at the time of the build. Newer ones are installed into the volume.
COPY --from=build /out/one-machine/app/ /app/

ENV PATH=/usr/local/bin:/usr/bin \
  NODE_ENV=production \
  HOST=0.0.0.0 \
  PORT=8080 \
  FFMPEG_PATH=/usr/local/bin/ffmpeg \
  DATA_DIR=/data \
  TMPDIR=/data \
  HOME=/data
# The environment of stream-service/node-environment.json: the allocator returns memory that large files took, and keeps the chunks of streams.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=524288 MALLOC_TRIM_THRESHOLD_=16777216
USER 1000:1000
# The only folder with writes; everything else may be read-only.
VOLUME ["/data"]
WORKDIR /app
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["node", "/app/health.mjs", "/api/App"]
# The flags of stream-service/node-flags.json.
CMD ["node", "--max-semi-space-size=1", "--heap-growing-percent=40", "/app/main.mjs"]
