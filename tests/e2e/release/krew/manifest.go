package main

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// plugin is the manifest of a plugin (kubernetes-sigs/krew: pkg/index/types.go).
type plugin struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Version          string     `yaml:"version"`
		Homepage         string     `yaml:"homepage"`
		ShortDescription string     `yaml:"shortDescription"`
		Description      string     `yaml:"description"`
		Platforms        []platform `yaml:"platforms"`
	} `yaml:"spec"`
}

// platform is what Krew installs on a platform.
type platform struct {
	Selector struct {
		MatchLabels struct {
			OS   string `yaml:"os"`
			Arch string `yaml:"arch"`
		} `yaml:"matchLabels"`
	} `yaml:"selector"`
	URI    string `yaml:"uri"`
	SHA256 string `yaml:"sha256"`
	Bin    string `yaml:"bin"`
}

const description = `Explains the deletion of objects, on any cluster:

- tree: the owners and the dependents of an object
- why: why an object is still there, or is about to go, and what can be done
- preview delete: what a deletion would delete, orphan and leave
- lint: problems of owner references and finalizers

It lists the metadata of all objects, and writes nothing.
`

func manifest(version string, platforms []platform) ([]byte, error) {
	p := plugin{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin"}
	p.Metadata.Name = "cascade"
	p.Spec.Version, p.Spec.Homepage = version, "https://github.com/kubecascade/kubecascade"
	p.Spec.ShortDescription, p.Spec.Description = "Explain and preview deletions", description
	p.Spec.Platforms = platforms
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}
