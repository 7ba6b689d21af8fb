package tests

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/explain"
	"k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubecascade/kubecascade/tests/process"
)

// TestKubectlExplainsEveryKind explains every kind that the server lists, in each of kubectl's forms: with its fields,
// and from the documents of OpenAPI v3 and v2.
func TestKubectlExplainsEveryKind(t *testing.T) {
	s := process.Start(t)
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &s.Kubeconfig
	dir := t.TempDir()
	flags.CacheDir = &dir
	factory := util.NewFactory(flags)
	_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: s.URL}).ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	explained := 0
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			explained++
			for _, args := range [][]string{
				nil, {"--recursive"}, {"--output=plaintext-openapiv2"}, {"--output=plaintext-openapiv2", "--recursive"},
			} {
				var out, errs bytes.Buffer
				c := explain.NewCmdExplain(
					"kubectl", factory, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
				c.SetArgs(append(slices.Clone(args), r.Name, "--api-version="+list.GroupVersion))
				util.BehaviorOnFatal(func(text string, _ int) { errs.WriteString(text) })
				if err := c.Execute(); err != nil || errs.Len() > 0 {
					t.Errorf("%s of %s %v: %v %s", r.Name, list.GroupVersion, args, err, &errs)
				}
				fields := strings.Fields(out.String())
				version := gv.Version
				if len(args) > 0 && strings.HasPrefix(args[0], "--output") {
					version = list.GroupVersion
				}
				for _, want := range []string{"KIND: " + r.Kind, "VERSION: " + version, "apiVersion <string>"} {
					if !strings.Contains(strings.Join(fields, " "), want) {
						t.Errorf("%s of %s %v: no %q in\n%s", r.Name, list.GroupVersion, args, want, &out)
					}
				}
			}
		}
	}
	if explained < 60 {
		t.Errorf("only %d kinds were explained", explained)
	}
}
