# The image of one rank.
#
#   docker build -t tutti .                       uses target/app, the layout of the build, if it exists and no source
#                                                 is newer, else builds it
#   docker build -t tutti:cuda --target cuda .    the same on a CUDA runtime with NCCL
#
# BASE_IMAGE    image that ranks run on: a Java 25 runtime with a shell
# BUILD_IMAGE   image that builds the layout if there is none to use: a JDK 25
# MAVEN_HOME_IMAGE  an image, or a build context called `maven`, with the `repository` and
#               `wrapper` folders of a ~/.m2: then the build fetches no jar from a registry
ARG BASE_IMAGE=eclipse-temurin:25-jre
ARG BUILD_IMAGE=eclipse-temurin:25-jdk
ARG CUDA_IMAGE=nvidia/cuda:13.0.2-runtime-ubuntu24.04
ARG MAVEN_HOME_IMAGE=scratch

FROM ${MAVEN_HOME_IMAGE} AS maven

FROM ${BUILD_IMAGE} AS layout
WORKDIR /source
COPY . .
# The cache mount keeps downloaded jars, libtorch among them, between builds.
RUN --mount=type=bind,from=maven,target=/m2,rw --mount=type=cache,target=/maven \
    if [ -e target/app/tutti.jar ] && \
      [ -z "$(find pom.xml application.yml src/main src/bench -type f -newer target/app/. | head -n 1)" ]; then exit 0; fi; \
    export MAVEN_USER_HOME=/maven; set -- -Dmaven.repo.local=/maven/repository; \
    if [ -d /m2/repository ]; then export MAVEN_USER_HOME=/m2; set -- -o -Dmaven.repo.local=/m2/repository; fi; \
    sh ./mvnw -q -B -Dmaven.test.skip "$@" package

# The common layers of both images without the caches: native libraries and dependencies are separate from the code,
# which changes with every commit. Any user may read them, whatever the umask of the checkout.
FROM ${BASE_IMAGE} AS rank
COPY --from=layout --chmod=755 /source/target/app/natives/ /app/natives/
COPY --from=layout --chmod=755 /source/target/app/lib/ /app/lib/
COPY --from=layout --chmod=755 /source/target/app/tutti.jar /app/
COPY --chmod=755 src/main/docker/ /app/
WORKDIR /app

# Runs ranks, once per kind of kernels, to record the classes that they load. This checks that the native libraries load
# on this base.
FROM rank AS cache
RUN sh /app/train-cache.sh

FROM ${CUDA_IMAGE} AS cuda
ENV JAVA_HOME=/opt/java/openjdk
ENV PATH=/opt/java/openjdk/bin:${PATH} LANG=C.UTF-8 HOME=/tmp TUTTI_HTTP_PORT=8080
COPY --from=rank /opt/java/openjdk /opt/java/openjdk
COPY --from=layout --chmod=755 /source/target/app/natives/ /app/natives/
COPY --from=layout --chmod=755 /source/target/app/lib/ /app/lib/
COPY --from=cache --chmod=755 /cache/ /app/
COPY --from=layout --chmod=755 /source/target/app/tutti.jar /app/
COPY --chmod=755 src/main/docker/tutti.sh src/main/docker/health.sh /app/
WORKDIR /app
USER 10001:10001
EXPOSE 8080 29500
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["sh", "/app/health.sh"]
ENTRYPOINT ["sh", "/app/tutti.sh"]
ARG REVISION=unknown
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="Tutti" \
      org.opencontainers.image.description="Collective communication and data-parallel training for the JVM, on CUDA" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

FROM ${BASE_IMAGE} AS tutti
ENV HOME=/tmp TUTTI_HTTP_PORT=8080
COPY --from=layout --chmod=755 /source/target/app/natives/ /app/natives/
COPY --from=layout --chmod=755 /source/target/app/lib/ /app/lib/
COPY --from=cache --chmod=755 /cache/ /app/
COPY --from=layout --chmod=755 /source/target/app/tutti.jar /app/
COPY --chmod=755 src/main/docker/tutti.sh src/main/docker/health.sh /app/
WORKDIR /app
USER 10001:10001
EXPOSE 8080 29500
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["sh", "/app/health.sh"]
ENTRYPOINT ["sh", "/app/tutti.sh"]
ARG REVISION=unknown
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="Tutti" \
      org.opencontainers.image.description="Collective communication and data-parallel training for the JVM" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
