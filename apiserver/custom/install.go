package custom

import (
	"bytes"
	"log/slog"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Installer keeps a table's custom entries in step with the definitions that are stored. It is told
// the timeline before anybody else sees it, so whoever sees that a definition is established finds
// its resource served, and nobody sees an object before its type. One goroutine owns it.
type Installer struct {
	types  *resources.Types
	prefix string
	log    *slog.Logger
	// installed are the definitions, by key, that have entries in the table.
	installed map[string]*installed
}

type installed struct {
	definition *apiextensionsv1.CustomResourceDefinition
	entries    []*resources.Resource
}

// NewInstaller returns one for the table; root is the prefix of all keys.
func NewInstaller(types *resources.Types, root string, log *slog.Logger) *Installer {
	return &Installer{types: types, prefix: root + "/" + kind(types).Collection + "/", log: log, installed: map[string]*installed{}}
}

// kind is the entry of definitions themselves.
func kind(types *resources.Types) *resources.Resource {
	return types.Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions")
}

// Apply takes in the next batch of the timeline.
func (i *Installer) Apply(b storage.Batch) {
	if b.Reset {
		there := map[string]bool{}
		for _, e := range b.Events {
			there[e.Key] = strings.HasPrefix(e.Key, i.prefix)
		}
		for key := range i.installed {
			if !there[key] {
				i.install(key, nil)
			}
		}
	}
	for _, e := range b.Events {
		if strings.HasPrefix(e.Key, i.prefix) {
			i.install(e.Key, e.Value)
		}
	}
}

// install puts the entries of a stored definition into the table, in place of those it had. One that
// can't be read keeps them: its objects haven't gone.
func (i *Installer) install(key string, value []byte) {
	var d *apiextensionsv1.CustomResourceDefinition
	if value != nil {
		var err error
		if d, err = i.decode(value); err != nil {
			i.log.Warn("a stored definition can't be read", "key", key, "err", err)
			return
		}
	}
	old := i.installed[key]
	if old != nil && d != nil && same(old.definition, d) {
		return
	}
	next := &installed{definition: d}
	if d != nil {
		next.entries = Entries(d)
	}
	var gone []*resources.Resource
	if old != nil {
		gone = old.entries
	}
	i.types.Replace(gone, next.entries)
	if d == nil {
		delete(i.installed, key)
		return
	}
	i.installed[key] = next
}

func (i *Installer) decode(value []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	if bytes.HasPrefix(value, []byte("k8s\x00")) {
		var err error
		if value, err = resources.Transcode(value); err != nil {
			return nil, err
		}
	}
	obj, err := kind(i.types).Decode(value)
	if err != nil {
		return nil, err
	}
	return obj.(*apiextensionsv1.CustomResourceDefinition), nil
}

// same reports whether two states of a definition give the same entries, so that neither what was
// compiled nor anybody's place in a watch is lost.
func same(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return a.UID == b.UID && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		True(a, apiextensionsv1.Established) == True(b, apiextensionsv1.Established) &&
		reflect.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames) && reflect.DeepEqual(a.Spec, b.Spec)
}
