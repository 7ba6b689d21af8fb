package selection

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/internal/cluster"
)

func served() *cluster.Discovery {
	d := &cluster.Discovery{}
	for _, r := range []metav1.APIResource{
		{Name: "configmaps", SingularName: "configmap", Kind: "ConfigMap", Namespaced: true, ShortNames: []string{"cm"}},
		{Name: "secrets", SingularName: "secret", Kind: "Secret", Namespaced: true},
		{Name: "nodes", SingularName: "node", Kind: "Node"},
	} {
		r.Verbs = metav1.Verbs{"list"}
		d.Add("", "v1", r)
	}
	return d
}

// TestArgumentsNameObjects: what arguments and files name.
func TestArgumentsNameObjects(t *testing.T) {
	const file = "kind: Secret\napiVersion: v1\nmetadata: {name: s, namespace: other}\n"
	key := func(resource, namespace, name string) cluster.Named {
		return cluster.Named{Resource: resource, Namespace: namespace, Name: name}
	}
	for _, c := range []struct {
		args     string
		file     string
		explicit bool
		want     []cluster.Named
		err      string
		usage    bool
	}{
		{args: "cm/a node/a", want: []cluster.Named{key("configmaps", "ns", "a"), key("nodes", "", "a")}},
		{args: "cm,secret a", want: []cluster.Named{key("configmaps", "ns", "a"), key("secrets", "ns", "a")}},
		{args: "", err: "an object is required: KIND/NAME", usage: true},
		{args: "cm", err: `"cm" is not KIND/NAME`, usage: true},
		{args: "cm/a b", err: `"b" is not KIND/NAME`, usage: true},
		{args: "cm a/b", err: `"a/b" is not a name`, usage: true},
		{args: "cm/", err: `"cm/" lacks a kind or a name: KIND/NAME`, usage: true},
		{args: "dragon/a", err: `the server doesn't have a resource type "dragon"`},
		{file: file, want: []cluster.Named{key("secrets", "other", "s")}},
		{
			file: file, explicit: true, usage: true,
			err: "standard input: Secret s is in namespace other, and --namespace is ns",
		},
	} {
		l := Line{Args: strings.Fields(c.args)}
		if c.file != "" {
			l.Files = []string{"-"}
		}
		var about cluster.Question
		err := l.Parse(strings.NewReader(c.file))
		usage := err != nil
		if err == nil {
			err = l.Ask(&about, served(), "ns", c.explicit)
			_, usage = errors.AsType[*UsageError](err)
		}
		if message(err) != c.err || usage != c.usage || !reflect.DeepEqual(about.Objects, c.want) {
			t.Errorf("%q %q: %v %v; expected %v %s", c.args, c.file, about.Objects, err, c.want, c.err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestOptionsExcludeEachOther: options that exclude each other, and lines that must name one object.
func TestOptionsExcludeEachOther(t *testing.T) {
	for _, l := range []Line{
		{Selector: "a=b", All: true, Args: []string{"cm"}}, {Selector: "a=b"}, {All: true, Args: []string{"cm/a"}},
		{Everywhere: true, Args: []string{"cm/a"}}, {Recursive: true},
		{All: true, Files: []string{"-"}},
	} {
		if l.Parse(strings.NewReader("")) == nil {
			t.Errorf("%+v: no error", l)
		}
	}
	for line, want := range map[string]string{"cm/a": "", "cm a": "", "cm a b": `unexpected argument "b"`} {
		l := Line{Args: strings.Fields(line), One: true}
		if got := message(l.Parse(nil)); got != want {
			t.Errorf("%s: %s; expected %s", line, got, want)
		}
	}
}
