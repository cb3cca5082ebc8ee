# `docker buildx bake` builds the images for all devices, `docker buildx bake gpu` one of them. The variables below are read
# from the environment: IMAGE=….dkr.ecr.eu-west-1.amazonaws.com/berth docker buildx bake --push

variable "IMAGE" {
  default = "berth"
}

variable "VERSION" {
  default = "0.1.0-SNAPSHOT"
}

variable "REVISION" {
  default = "unknown"
}

variable "SOURCE" {
  default = "unknown"
}

# What the images begin with. A release sets them with their digests: debian:bookworm-slim@sha256:…
variable "DEBIAN" {
  default = "debian:bookworm-slim"
}

variable "JDK" {
  default = "eclipse-temurin:25-jdk"
}

variable "MAVEN" {
  default = "maven:3-eclipse-temurin-25"
}

group "default" {
  targets = ["cpu", "cpu-nonroot", "onnx", "gpu", "inf1", "inf2", "conformance"]
}

target "_common" {
  args = {
    VERSION  = VERSION
    REVISION = REVISION
    SOURCE   = SOURCE
    DEBIAN   = DEBIAN
    JDK      = JDK
    MAVEN    = MAVEN
  }
}

# For Graviton too. An image of several platforms must be pushed, or kept in an image store that can hold one.
target "cpu" {
  inherits  = ["_common"]
  target    = "cpu"
  tags      = ["${IMAGE}:cpu"]
  platforms = ["linux/amd64", "linux/arm64"]
}

# The same, run as a user of its own.
target "cpu-nonroot" {
  inherits = ["cpu"]
  target   = "cpu-nonroot"
  tags     = ["${IMAGE}:cpu-nonroot"]
}

# Without libtorch, for ONNX files.
target "onnx" {
  inherits = ["cpu"]
  target   = "onnx"
  tags     = ["${IMAGE}:onnx"]
}

target "gpu" {
  inherits  = ["_common"]
  target    = "gpu"
  tags      = ["${IMAGE}:gpu"]
  platforms = ["linux/amd64"]
}

target "inf1" {
  inherits  = ["_common"]
  target    = "inf1"
  tags      = ["${IMAGE}:inf1"]
  platforms = ["linux/amd64"]
}

target "inf2" {
  inherits  = ["_common"]
  target    = "inf2"
  tags      = ["${IMAGE}:inf2"]
  platforms = ["linux/amd64"]
}

# No server: the kit that asks any container.
target "conformance" {
  inherits = ["cpu"]
  target   = "conformance"
  tags     = ["${IMAGE}-conformance"]
}
