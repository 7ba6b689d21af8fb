package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// aboutKinds are the files and directories below apiserver, besides resources, that name built-in kinds, with the
// reason. Tests and their testdata name any kind: they are requests and answers.
var aboutKinds = map[string]string{
	"admission/order.go":          "each plugin looks up objects of a kind",
	"admission/certificate.go":    "the plugins are about certificate signing requests",
	"admission/class.go":          "the plugins give claims and ingresses a default class",
	"admission/dynamic":           "configurations of admission are read by their Go types",
	"admission/escalation.go":     "the plugin is about roles and their bindings",
	"admission/existing.go":       "PodSecurity checks the pods of a namespace",
	"admission/limitranger.go":    "the plugin applies limit ranges to pods and claims",
	"admission/lookup.go":         "plugins get pods and service accounts by their Go types",
	"admission/names.go":          "plugins are named like kinds",
	"admission/nodefeatures.go":   "the plugin compares changes of pods with the features of their node",
	"admission/params.go":         "who writes policies must be allowed to read their params",
	"admission/podsecurity.go":    "the plugin checks pods and templates of pods",
	"admission/priority.go":       "the plugin gives pods the priority of their class",
	"admission/protection.go":     "the plugin adds finalizers to volumes and claims",
	"admission/quota.go":          "the plugin charges resource quotas",
	"admission/resize.go":         "the plugin is about the growth of claims",
	"admission/runtimeclass.go":   "the plugin gives pods the overhead of their class",
	"admission/secrets.go":        "the secrets that a pod may mount are those of its service account",
	"admission/serviceaccount.go": "the plugin gives pods their service account",
	"admission/taint.go":          "the plugin taints new nodes",
	"admission/toleration.go":     "the plugin gives pods tolerations",
	"apiservertest":               "servers of tests have namespaces and roles",
	"bootstrap":                   "the objects of a new cluster are content",
	"customresource":              "CustomResourceDefinitions make entries of the table",
	"expression":                  "policies are what it compiles, and namespaces a variable of expressions",
	"flowcontrol":                 "flow schemas and priority levels configure it",
	"authorization/rbac":          "roles and their bindings are the policy",
	"authorization.go":            "they are read from the cache",
	"endpoints/resolve.go":        "an error message names the parameter Namespace",
	"documents.go":                "the types in policies are checked by those that are documented",
	"registry/serviceaddress.go":  "webhooks are reached by Services and EndpointSlices",
	"aggregator":                  "APIServices say where other servers are",
	"discovery/other.go":          "groups are in the order of their APIServices",
}

// TestKindsAreCodeOfResources: code about a single kind is in resources. Elsewhere a kind is an entry of the table.
func TestKindsAreCodeOfResources(t *testing.T) {
	kinds := map[string]bool{}
	for _, r := range resources.Every(nil) {
		kinds[r.Kind] = true
	}
	if len(kinds) < 60 {
		t.Fatalf("the table has only %d kinds", len(kinds))
	}
	below, used := filepath.Join(root, "apiserver"), map[string]bool{}
	err := filepath.WalkDir(below, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(below, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == "resources":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		for _, found := range kindsIn(fset, f, kinds) {
			if listed := listedAs(name); listed != "" {
				used[listed] = true
			} else {
				t.Errorf("%s: it belongs to resources, or has a reason in aboutKinds", found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range aboutKinds {
		if !used[name] {
			t.Errorf("apiserver/%s names no kind: remove it from aboutKinds", name)
		}
	}
}

// listedAs returns the file or directory in aboutKinds that a file belongs to; empty for none.
func listedAs(name string) string {
	for ; name != "."; name = filepath.ToSlash(filepath.Dir(name)) {
		if aboutKinds[name] != "" {
			return name
		}
	}
	return ""
}

// kindsIn returns the places where a file names a kind: by its Go type, by another type of its group that is only its
// own, or as a string.
func kindsIn(fset *token.FileSet, f *ast.File, kinds map[string]bool) (found []string) {
	groups := map[string]string{}
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		group, ok := strings.CutPrefix(path, "k8s.io/api/")
		if !ok && !strings.Contains(path, "/pkg/apis/apiextensions") && !strings.Contains(path, "/pkg/apis/apiregistration") {
			continue
		}
		name := filepath.Base(path)
		if i.Name != nil {
			name = i.Name.Name
		}
		groups[name] = group
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			if group, ok := groups[x.Name]; ok && isKinds(group, n.Sel.Name, kinds) {
				found = append(found, fmt.Sprintf("%s: %s.%s", fset.Position(n.Pos()), x.Name, n.Sel.Name))
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && kinds[s] {
				found = append(found, fmt.Sprintf("%s: %q", fset.Position(n.Pos()), s))
			}
		}
		return true
	})
	return found
}

// isKinds reports whether a name of a group's package is that of a kind, or belongs to one.
func isKinds(group, name string, kinds map[string]bool) bool {
	for _, suffix := range []string{"", "Spec", "Status", "List"} {
		if kind, ok := strings.CutSuffix(name, suffix); ok && kinds[kind] {
			return true
		}
	}
	switch group {
	case "apps/v1":
		return name != "SchemeGroupVersion" && name != "GroupName"
	case "core/v1":
		return strings.HasPrefix(name, "Service") || strings.HasPrefix(name, "Pod")
	}
	return false
}

// TestCodeOfKindsIsFound: the check finds what it is for.
func TestCodeOfKindsIsFound(t *testing.T) {
	kinds := map[string]bool{"Pod": true, "Secret": true, "Deployment": true, "ConfigMap": true}
	for body, want := range map[string]int{
		`_ = corev1.Pod{}`:                           1,
		`_ = corev1.PodSpec{}`:                       1,
		`_ = corev1.ServiceTypeNodePort`:             1,
		`_, _ = obj.(*corev1.ConfigMap)`:             1,
		`_ = corev1.SecretList{}`:                    1,
		`_ = appsv1.SchemeGroupVersion`:              0,
		`_ = appsv1.RollingUpdate`:                   1,
		`_ = []string{"Pod", "Secret"}`:              2,
		`_ = "pods"`:                                 0,
		`_ = corev1.NamespaceTerminatingCause`:       0,
		`var other struct{ Pod int }; _ = other.Pod`: 0,
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "p.go", `package p
import (corev1 "k8s.io/api/core/v1"; appsv1 "k8s.io/api/apps/v1")
var obj any
func p() { `+body+` }`, 0)
		if err != nil {
			t.Fatal(err)
		}
		if found := kindsIn(fset, f, kinds); len(found) != want {
			t.Errorf("%s: found %q", body, found)
		}
	}
}
