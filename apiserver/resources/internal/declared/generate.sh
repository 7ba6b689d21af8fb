#!/bin/sh -e
# Generates the validation in the packages below this folder by upstream's validation-gen. The packages that are read
# only have no rules of their own.
readonly=
for pkg in k8s.io/apimachinery/pkg/api/resource k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/types \
  k8s.io/apimachinery/pkg/util/intstr time; do
  readonly="$readonly --readonly-pkg $pkg"
done
# shellcheck disable=SC2086 # the list has several arguments
GOFLAGS='' "$(go -C ../../../../tests tool -n validation-gen)" --output-file zz_generated.validations.go $readonly ./...
