module github.com/kubecascade/kubecascade/tests/process

go 1.26.0
