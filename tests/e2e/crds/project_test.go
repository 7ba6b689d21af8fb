package crds

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// project is a project, with the packages of its types.
type project struct {
	name  string
	paths []string
	// objects have, by kind, the fields that expressions require besides those in the schema.
	objects map[string]string
}

// port is the port of the backend in the only rule of a route. The schema does not require it, but an expression does.
const port = `{"spec":{"rules":[{"backendRefs":[{"name":"a","port":80}]}]}}`

var projects = []project{
	{name: "gateway-api", paths: []string{"sigs.k8s.io/gateway-api/apis/..."}, objects: map[string]string{
		"BackendTLSPolicy": `{"spec":{"validation":{"wellKnownCACertificates":"System"}}}`,
		"TCPRoute":         port, "TLSRoute": port, "UDPRoute": port,
	}},
	{name: "cert-manager", paths: []string{
		"github.com/cert-manager/cert-manager/pkg/apis/acme/v1",
		"github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1",
	}},
	{
		name:  "prometheus-operator",
		paths: []string{"github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/..."},
	},
	{name: "cluster-api", paths: []string{"sigs.k8s.io/cluster-api/api/..."}},
	{name: "flux", paths: []string{"github.com/fluxcd/source-controller/api/v1"}},
}

// definitions returns the definitions that controller-gen generates.
func (p *project) definitions(t *testing.T) (all []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"tool", "controller-gen", "crd:allowDangerousTypes=true", "output:crd:dir=" + dir}
	for _, path := range p.paths {
		args = append(args, "paths="+path)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("controller-gen: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("controller-gen has generated nothing: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if strings.HasSuffix(d.Spec.Group, ".k8s.io") { // a protected group needs the annotation for its approval
			d.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation] = "https://github.com/kubernetes-sigs/gateway-api/pull/2466"
		}
		all = append(all, d)
	}
	return all
}
