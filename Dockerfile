# The image that serves, one target for each kind of device:
#
#     docker build -t berth .                       CPU, for the processor of this machine: amd64 or arm64
#     docker build --target onnx -t berth:onnx .    the same without libtorch, for ONNX files
#     docker build --target gpu -t berth:gpu .      also inf1, and inf2 for Inf2 and Trn1; these three on amd64
#     docker buildx bake                            docker-bake.hcl names them all
#     docker build --target conformance -t berth-conformance .    no server: the kit that asks any container
#
# Needs BuildKit: Docker 23 or newer, or DOCKER_BUILDKIT=1 before that. An image is, from bottom to top and so from what
# seldom changes to what often does: Debian, Java, libtorch, other people's jars, Berth's jar, and the cache of its
# classes.
#
# The images that it begins with are build arguments. Their defaults are tags, which a mirror or an image store of one's own may have.
# A release names them with their digests: DEBIAN=debian:bookworm-slim@sha256:…
#
# Behind a package mirror, pip's own settings are build arguments: PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_TRUSTED_HOST.

ARG DEBIAN=debian:bookworm-slim
ARG JDK=eclipse-temurin:25-jdk
ARG MAVEN=maven:3-eclipse-temurin-25

# A Java runtime with the compiler that hooks need, and whatever else of Java SE they may use. ct.sym only serves `javac
# --release`. The client of S3 needs jdk.net. Before 25.0.3, G1 may move an array that native code is reading (JDK-8377811).
FROM ${JDK} AS java
RUN version=$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$JAVA_HOME/release") \
    && printf '25.0.3\n%s\n' "$version" > /versions \
    && if ! sort -VC /versions; then \
         echo "needs JDK 25.0.3 or newer, found $version: run docker pull eclipse-temurin:25-jdk" >&2; exit 1; \
       fi
RUN jlink --output /java --compress zip-6 --no-header-files --no-man-pages --exclude-files '**/ct.sym' \
      --add-modules java.se,jdk.charsets,jdk.compiler,jdk.jcmd,jdk.jdwp.agent,jdk.jfr,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs

# What says which libraries there are. It is copied on below only where it has changed.
FROM ${DEBIAN} AS poms
COPY pom.xml /build/
COPY src /build/src
RUN find /build -type f ! -name pom.xml -delete && find /build -type d -empty -delete

# The jars of others. Native libraries are taken out of them, those that this image's processor needs, so that nothing
# is unpacked when the server starts. Without sources Maven makes Berth's own jars too, but empty; they are left behind.
FROM --platform=$BUILDPLATFORM ${MAVEN} AS libraries
ARG TARGETARCH
WORKDIR /build
COPY --from=poms /build ./
RUN --mount=type=cache,target=/root/.m2/repository,sharing=locked \
    case $TARGETARCH in amd64) machine=x86_64 jna=x86-64 onnx=x64 ;; arm64) machine=aarch64 jna=aarch64 onnx=aarch64 ;; esac \
    && mvn -B -ntp -q -DskipTests package "-Dnative.classifier=linux-$machine" \
    && mkdir -p unpacked torch/cpu torch/gpu native \
    && mv target/lib . \
    && rm -r lib/berth-* && find . -name target -prune -exec rm -r {} + \
    && for jar in pytorch-native-cpu pytorch-jni tokenizers jna webp-imageio onnxruntime; do \
         jar --extract --file lib/"$jar"-[0-9]*.jar --dir "unpacked/$jar"; \
       done \
    && mv unpacked/pytorch-native-cpu/pytorch/cpu/linux-"$machine"/*.so* torch/cpu \
    && mv "unpacked/pytorch-jni/jnilib/linux-$machine/cpu/libdjl_torch.so" torch/cpu \
    && if [ "$TARGETARCH" = amd64 ]; then mv unpacked/pytorch-jni/jnilib/linux-x86_64/cu128/libdjl_torch.so torch/gpu; fi \
    && mv "unpacked/tokenizers/native/lib/linux-$machine/cpu/libtokenizers.so" native \
    && mv "unpacked/jna/com/sun/jna/linux-$jna/libjnidispatch.so" native \
    && mv "unpacked/webp-imageio/native/Linux/$machine/libwebp-imageio.so" native \
    && mv "unpacked/onnxruntime/ai/onnxruntime/native/linux-$onnx"/*.so native \
    && rm -r unpacked/tokenizers/native/lib/*/ unpacked/webp-imageio/native unpacked/onnxruntime/ai/onnxruntime/native \
    && jar --create --no-manifest --file lib/tokenizers-[0-9]*.jar -C unpacked/tokenizers . \
    && jar --create --no-manifest --file lib/webp-imageio-[0-9]*.jar -C unpacked/webp-imageio . \
    && jar --create --no-manifest --file lib/onnxruntime-[0-9]*.jar -C unpacked/onnxruntime . \
    && rm -r lib/pytorch-native-cpu-* lib/pytorch-jni-* unpacked

# A fifth of libtorch is names of functions that nothing outside it can call; only a native debugger reads them.
FROM ${DEBIAN} AS native
RUN apt-get update && apt-get install -y --no-install-recommends binutils
COPY --from=libraries /build/torch /torch
COPY --from=libraries /build/native /native
RUN find /torch /native -name '*.so*' -exec strip --strip-unneeded {} + -exec chmod 644 {} +

# Of Debian, the libraries of C, C++ and OpenMP, which hooks' jars expect of a machine, and busybox for the launcher.
FROM ${DEBIAN} AS system
RUN apt-get update && apt-get install -y --no-install-recommends busybox-static libgomp1
RUN --mount=type=bind,source=src/image,target=/image \
    /image/system.sh /system base-files busybox-static gcc-12-base libc6 libgcc-s1 libgomp1 libstdc++6 zlib1g

# The conformance kit: a Java runtime of the modules that it needs, and what that needs of Debian.
FROM --platform=$BUILDPLATFORM ${MAVEN} AS conformance-jar
WORKDIR /build
COPY pom.xml ./
COPY docs/internals/contract.md docs/internals/
COPY tools/conformance tools/conformance
RUN --mount=type=cache,target=/root/.m2/repository,sharing=locked \
    mvn -B -ntp -q -f tools/conformance/pom.xml -DskipTests package
FROM ${JDK} AS conformance-java
RUN jlink --output /java --compress zip-9 --strip-java-debug-attributes --no-header-files --no-man-pages \
      --add-modules java.base,java.net.http
FROM ${DEBIAN} AS conformance-system
RUN --mount=type=bind,source=src/image,target=/image \
    /image/system.sh /system base-files libc6 libgcc-s1 zlib1g && find /system/usr/bin -xtype l -delete && rm -r /system/opt/ml
FROM scratch AS conformance
COPY --from=conformance-system /system /
COPY --from=conformance-java /java /opt/java
COPY --from=conformance-jar /build/target/conformance/berth-conformance.jar /opt/
ENV LANG=C.UTF-8
# For the files that --body and others name: docker run -v "$PWD:/work".
WORKDIR /work
ARG VERSION=0.1.0-SNAPSHOT
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Berth conformance kit" \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.revision=$REVISION \
      org.opencontainers.image.source=$SOURCE
ENTRYPOINT ["/opt/java/bin/java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", "/opt/berth-conformance.jar"]

# What changes with Berth itself.
FROM --platform=$BUILDPLATFORM libraries AS server
COPY src src
# The model of a template is that of an example.
COPY examples/mnist examples/mnist
RUN --mount=type=cache,target=/root/.m2/repository,sharing=locked \
    mvn -B -ntp -q -DskipTests package
COPY serve find-java.sh jvm.options LICENSE NOTICE /berth/
RUN --mount=type=bind,from=system,source=/system/var/lib/dpkg/status.d,target=/status \
    --mount=type=bind,from=java,source=/opt/java/openjdk/release,target=/release \
    --mount=type=bind,source=src/image,target=/image \
    mkdir /berth/lib && cp target/lib/berth-*.jar /berth/lib \
    && cp target/berth.jar target/berth.cdx.json /berth && ln -s serve /berth/transform \
    && java --class-path 'lib/*' /image/BillOfMaterials.java /berth/berth.cdx.json /release /status

FROM ${DEBIAN} AS pip
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates python3-pip
ENV PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_TARGET=/site-packages
ARG PIP_INDEX_URL PIP_TRUSTED_HOST

# 2.7.1 is the libtorch that DJL's library was made for, and cu128 the CUDA. libtorch needs the NVIDIA libraries that
# pip brings with it, but for the driver, which is the host's. The server looks for CUDA under the name of libcudart
# that has no version.
FROM pip AS gpu-libraries
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu128
RUN pip install torch==2.7.1+cu128 \
    && rm /site-packages/torch/lib/libtorch_python.so \
    && ln -s libcudart.so.12 /site-packages/nvidia/cuda_runtime/lib/libcudart.so
COPY --from=native /torch/gpu/libdjl_torch.so /site-packages/torch/lib/

# The last torch-neuron that AWS released, and the torch it is made for. No Python runs here, so that these wheels are
# for another one does not matter. DJL's library is the newest that was made for 1.13.1, in the older of GCC's two ABIs,
# as pip's torch was then.
FROM --platform=$BUILDPLATFORM ${MAVEN} AS inf1-jni
RUN --mount=type=cache,target=/root/.m2/repository,sharing=locked \
    mvn -B -ntp -q dependency:copy -Dartifact=ai.djl.pytorch:pytorch-jni:1.13.1-0.22.0 -DoutputDirectory=/jni \
    && jar --extract --file /jni/pytorch-jni-*.jar --dir /jni
FROM pip AS inf1-libraries
ARG PIP_EXTRA_INDEX_URL="https://pip.repos.neuron.amazonaws.com https://download.pytorch.org/whl/cpu"
RUN pip install --no-deps --only-binary :all: --python-version 3.10 torch==1.13.1+cpu torch-neuron==1.13.1.2.11.13.0 \
    && rm /site-packages/torch/lib/libtorch_python.so
COPY --from=inf1-jni /jni/jnilib/linux-x86_64/cpu-precxx11/libdjl_torch.so /site-packages/torch/lib/

# Neuron SDK 2.28.1 is the last one with a torch 2.7, which DJL's library needs.
FROM pip AS inf2-libraries
ARG PIP_EXTRA_INDEX_URL="https://pip.repos.neuron.amazonaws.com https://download.pytorch.org/whl/cpu"
RUN pip install --no-deps --only-binary :all: torch==2.7.0+cpu torch-neuronx==2.7.0.2.12.22436 \
    && rm /site-packages/torch/lib/libtorch_python.so
COPY --from=native /torch/cpu/libdjl_torch.so /site-packages/torch/lib/

# The layer below Berth's own.
FROM scratch AS jars
COPY --from=native /native /native
COPY --from=libraries /build/lib /lib

# What all images begin with. `serve` and other commands are arguments of the entry point, which becomes the server:
# there is no init. SageMaker wants root; any other user will do.
FROM scratch AS base
COPY --from=system /system /
COPY --from=java /java /opt/java/openjdk
ENV JAVA_HOME=/opt/java/openjdk \
    BERTH_HOST=0.0.0.0 \
    PATH=/opt/berth:/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/opt/berth/serve"]
# SageMaker and Kubernetes have probes of their own. A model may load for some minutes. The first probe comes after an interval, so
# that is short: --start-interval needs Docker 25. The JVM of `serve health` would take a core for 0.2 s each time.
HEALTHCHECK --interval=5s --timeout=10s --start-period=8m --retries=9 CMD ["sh", "-c", "busybox wget -q -O /dev/null \
    http://127.0.0.1:${SAGEMAKER_BIND_TO_PORT:-${AIP_HTTP_PORT:-${PORT:-8080}}}/ping 2> /dev/null || /opt/berth/serve health"]
ARG VERSION=0.1.0-SNAPSHOT
ARG REVISION=unknown
ARG SOURCE=unknown
ARG DEBIAN
LABEL com.amazonaws.sagemaker.capabilities.accept-bind-to-port=true \
      com.amazonaws.sagemaker.capabilities.bidirectional-streaming=true \
      com.amazonaws.sagemaker.capabilities.multi-models=true \
      org.opencontainers.image.title=Berth \
      org.opencontainers.image.description="A SageMaker-compatible model-serving container for the JVM" \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.revision=$REVISION \
      org.opencontainers.image.source=$SOURCE \
      org.opencontainers.image.base.name=$DEBIAN

FROM base AS cpu-base
COPY --from=native /torch/cpu /opt/berth/torch
COPY --from=jars / /opt/berth/
ENV INSTANCE_TYPE=cpu \
    PYTORCH_LIBRARY_PATH=/opt/berth/torch

# The server with a sample model and a hook that it has to compile answers requests, and the JVM keeps the classes as they
# are then, loaded and linked. A JVM takes them back only if the jars are the same, and they are in every image.
FROM cpu-base AS training
COPY --from=server /berth /opt/berth
RUN --mount=type=bind,source=src/image,target=/training \
    --mount=type=bind,source=model-artifact,target=/opt/ml/model \
    mkdir -p /model/code && ln -s /opt/ml/model/* /model && cp /training/Inference.java /model/code \
    && BERTH_MODEL_DIR=/model java /training/TrainingRun.java /opt/berth/serve /opt/berth/berth.aot
FROM scratch AS trained-server
COPY --from=server /berth /
COPY --from=training /opt/berth/berth.aot /

FROM base AS gpu
COPY --from=gpu-libraries /site-packages/nvidia /opt/site-packages/nvidia
COPY --from=gpu-libraries /site-packages/torch/lib /opt/site-packages/torch/lib
COPY --from=jars / /opt/berth/
COPY --from=trained-server / /opt/berth/
# SageMaker takes a driver by this label where no InferenceAmiVersion is given. CUDA 12.8 needs driver 525 or newer; 12.2 comes
# with 535.
LABEL com.amazonaws.sagemaker.inference.cuda.verified_versions=12.2
# NVIDIA's container toolkit mounts the driver for the first two. Older ones, and GKE, put it into /usr/local/nvidia/lib64.
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    INSTANCE_TYPE=gpu \
    PYTORCH_LIBRARY_PATH=/opt/site-packages/torch/lib \
    LD_LIBRARY_PATH=/opt/site-packages/nvidia/cuda_runtime/lib:/usr/local/nvidia/lib64

# The Neuron runtime is no Python package. AWS makes it for Ubuntu 22.04, whose C library is older than Debian 12's. All of it
# stands in /opt/aws.
FROM ${DEBIAN} AS neuron-packages
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates
ADD --chmod=644 https://apt.repos.neuron.amazonaws.com/GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB /etc/apt/keyrings/neuron.asc
RUN echo "deb [signed-by=/etc/apt/keyrings/neuron.asc] https://apt.repos.neuron.amazonaws.com jammy main" \
      > /etc/apt/sources.list.d/neuron.list

# 2.24 is the last runtime that knows Inf1.
FROM neuron-packages AS inf1-runtime
RUN apt-get update && apt-get install -y --no-install-recommends 'aws-neuronx-runtime-lib=2.24.53.0*'
FROM base AS inf1
COPY --from=inf1-runtime /opt/aws /opt/aws
COPY --from=inf1-libraries /site-packages/torch_neuron/lib /opt/site-packages/torch_neuron/lib
COPY --from=inf1-libraries /site-packages/torch/lib /opt/site-packages/torch/lib
COPY --from=jars / /opt/berth/
COPY --from=trained-server / /opt/berth/
ENV INSTANCE_TYPE=inf1 \
    PYTORCH_LIBRARY_PATH=/opt/site-packages/torch/lib \
    LD_LIBRARY_PATH=/opt/site-packages/torch_neuron/lib:/opt/aws/neuron/lib

# The runtime of SDK 2.28.1, as torch-neuronx is. INSTANCE_TYPE=trn1 makes it an image for Trn1.
FROM neuron-packages AS inf2-runtime
RUN apt-get update \
    && apt-get install -y --no-install-recommends 'aws-neuronx-runtime-lib=2.30.51.0*' 'aws-neuronx-collectives=2.30.59.0*'
FROM base AS inf2
COPY --from=inf2-runtime /opt/aws /opt/aws
COPY --from=inf2-libraries /site-packages/torch_neuronx/lib /opt/site-packages/torch_neuronx/lib
COPY --from=inf2-libraries /site-packages/torch/lib /opt/site-packages/torch/lib
COPY --from=jars / /opt/berth/
COPY --from=trained-server / /opt/berth/
ENV INSTANCE_TYPE=inf2 \
    PYTORCH_LIBRARY_PATH=/opt/site-packages/torch/lib \
    LD_LIBRARY_PATH=/opt/site-packages/torch_neuronx/lib:/opt/aws/neuron/lib

FROM cpu-base AS cpu
# What `docker run IMAGE` shows. An artifact that is mounted comes first.
COPY model-artifact /opt/berth/model-artifact
COPY --from=trained-server / /opt/berth/

# Without libtorch, for ONNX files. The sample's graph tells where in the file of TorchScript its weights are.
FROM base AS onnx-base
COPY --from=jars / /opt/berth/
COPY model-artifact/*.json src/image/onnx /opt/berth/model-artifact/
COPY model-artifact/model.pt /opt/berth/model-artifact/model.onnx.data
ENV INSTANCE_TYPE=cpu
FROM onnx-base AS onnx-training
COPY --from=server /berth /opt/berth
RUN --mount=type=bind,source=src/image,target=/training \
    cp -r /opt/berth/model-artifact /model && mkdir /model/code && cp /training/Inference.java /model/code \
    && BERTH_MODEL_DIR=/model java /training/TrainingRun.java /opt/berth/serve /opt/berth/berth.aot
FROM onnx-base AS onnx
COPY --from=server /berth /opt/berth/
COPY --from=onnx-training /opt/berth/berth.aot /opt/berth/

# The same as a user of its own, for clusters that refuse root. SageMaker's documents ask for root.
FROM cpu AS cpu-nonroot
USER 65532:65532

# The last stage is what `docker build .` makes.
FROM cpu
