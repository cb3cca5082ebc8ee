# `docker buildx bake` builds the images for all devices, `docker buildx bake gpu` one of them. VERSION, REVISION and
# IMAGE are read from the environment: IMAGE=….dkr.ecr.eu-west-1.amazonaws.com/berth docker buildx bake --push

variable "IMAGE" {
  default = "berth"
}

variable "VERSION" {
  default = "0.1.0-SNAPSHOT"
}

variable "REVISION" {
  default = "unknown"
}

group "default" {
  targets = ["cpu", "gpu", "inf1", "inf2"]
}

target "_common" {
  args = {
    VERSION  = VERSION
    REVISION = REVISION
  }
}

# For Graviton too. An image of several platforms must be pushed, or kept in an image store that can hold one.
target "cpu" {
  inherits  = ["_common"]
  target    = "cpu"
  tags      = ["${IMAGE}:cpu"]
  platforms = ["linux/amd64", "linux/arm64"]
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
