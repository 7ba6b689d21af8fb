#!/bin/sh -e
# Generates validation by upstream's validation-gen: in the packages of groups whose doc.go names their types, and in
# those below this folder. The packages that are read only have no rules of their own.
groups=$(grep -l '^// +k8s:validation-gen' ../../*/doc.go | xargs -n1 dirname)
readonly=
for pkg in k8s.io/apimachinery/pkg/api/resource k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/types \
  k8s.io/apimachinery/pkg/util/intstr time; do
  readonly="$readonly --readonly-pkg $pkg"
done
# shellcheck disable=SC2086 # the lists have several arguments
GOFLAGS='' "$(go -C ../../../../tests tool -n validation-gen)" --output-file zz_generated.validations.go $readonly ./... $groups

# Nothing is registered when the process starts: entry.Declared calls RegisterValidations.
# shellcheck disable=SC2086 # the list has several arguments
find . $groups -name zz_generated.validations.go -exec sed -i '/^func init() /,+1d' {} +
