#!/bin/sh
# Prints three pods that name the ReplicaSet my-repset as their owner, as its controller would make them.
set -eu
uid=$(kubectl get replicaset my-repset --output=jsonpath='{.metadata.uid}')
for i in 1 2 3; do
  cat <<EOF
---
apiVersion: v1
kind: Pod
metadata:
  name: my-repset-$i
  labels:
    pod-is-for: garbage-collection-example
  ownerReferences:
  - apiVersion: apps/v1
    kind: ReplicaSet
    name: my-repset
    uid: $uid
    controller: true
    blockOwnerDeletion: true
spec:
  containers:
  - name: nginx
    image: nginx
EOF
done
