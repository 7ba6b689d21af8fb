#!/bin/sh
# Shows what the garbage collector and the namespace controller do, with kubectl on a server that "make run" has started
# in this checkout: a ReplicaSet creates Pods, which name it as their owner; its deletion deletes them; the deletion of a
# namespace deletes its objects. Prints each command before it runs it, and leaves nothing behind.
#
# An argument is another kubeconfig. $KUBECONFIG is not read: it may be that of a cluster with real Pods.
set -eu
cd "$(dirname "$0")/.."
KUBECONFIG=${1:-$PWD/kubecascade-data/admin.kubeconfig}
export KUBECONFIG

fail() {
  echo "pods.sh: $*" >&2
  exit 1
}

command -v kubectl >/dev/null || fail 'kubectl is not in the PATH; https://kubernetes.io/docs/tasks/tools/ has it'
[ -f "$KUBECONFIG" ] || fail "$KUBECONFIG does not exist: start the server with 'make run' in another terminal"
kubectl get --raw=/readyz >/dev/null 2>&1 || fail "the server does not answer: start it with 'make run' in another terminal"

# run COMMAND prints the command and runs it.
run() {
  echo "\$ $1"
  eval "$1" 2>&1
}

run 'kubectl apply -f examples/replicaset.yaml'
kubectl wait --for=jsonpath='{.status.replicas}'=3 replicaset/my-repset >/dev/null # it has just been created
run 'kubectl get pods'
run 'kubectl get pods -o yaml | grep -A6 ownerReferences | head -7'
run 'kubectl delete replicaset my-repset --cascade=foreground'
run 'kubectl get pods'
run 'kubectl create namespace demo'
run 'kubectl create configmap settings --namespace demo'
run 'kubectl delete namespace demo'
run 'kubectl get namespace demo' || true # it is gone
