module github.com/kubecascade/kubecascade/tests/release

go 1.26.0

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0
	go.yaml.in/yaml/v3 v3.0.6
)
