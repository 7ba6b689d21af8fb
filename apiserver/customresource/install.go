package customresource

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/storage"
)

// Installer keeps the custom entries of a table up to date with the stored definitions. It gets each event before all
// other consumers, so that a client that sees that a definition is established finds its resource served, and no
// watcher sees an object before its type. One goroutine owns it.
type Installer struct {
	types  *resources.Types
	prefix string
	// clients call conversion webhooks.
	clients *webhook.Clients
	log     *slog.Logger
	// installed are the definitions, by key, that have entries in the table.
	installed map[string]*installed
}

type installed struct {
	outline outline
	entries []*resources.Resource
}

// NewInstaller returns an Installer for the table; root is the prefix of all keys, and clients call conversion webhooks.
func NewInstaller(types *resources.Types, root string, clients *webhook.Clients, log *slog.Logger) *Installer {
	return &Installer{
		types: types, prefix: root + "/" + kind(types).Collection + "/", clients: clients, log: log,
		installed: map[string]*installed{},
	}
}

// kind is the entry of CustomResourceDefinitions.
func kind(types *resources.Types) *resources.Resource {
	return types.Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions")
}

// Apply processes the next batch of events.
func (i *Installer) Apply(b storage.Batch) {
	if b.Reset {
		there := map[string]bool{}
		for _, e := range b.Events {
			there[e.Key] = strings.HasPrefix(e.Key, i.prefix)
		}
		for key := range i.installed {
			if !there[key] {
				i.install(storage.Event{Key: key})
			}
		}
	}
	for _, e := range b.Events {
		if strings.HasPrefix(e.Key, i.prefix) {
			i.install(e)
		}
	}
}

// install replaces the entries of a stored definition in the table. A definition that can't be decoded keeps its
// entries: its objects still exist.
func (i *Installer) install(e storage.Event) {
	old := i.installed[e.Key]
	if e.Value == nil {
		if old != nil {
			i.types.Replace(old.entries, nil)
			delete(i.installed, e.Key)
		}
		return
	}
	next, err := (*installed)(nil), e.Err
	if err == nil {
		next, err = i.read(e.Value, old)
	}
	if err != nil {
		i.log.Warn("a stored CustomResourceDefinition can't be decoded", "key", e.Key, "err", err)
		return
	}
	if old == nil {
		old = &installed{}
	}
	i.types.Replace(old.entries, next.entries)
	i.installed[e.Key] = next
}

// read makes the entries of a stored definition. It returns old if nothing relevant has changed.
func (i *Installer) read(value []byte, old *installed) (*installed, error) {
	if bytes.HasPrefix(value, []byte("k8s\x00")) || bytes.HasPrefix(value, []byte("\xd9\xd9\xf7")) { // protobuf, CBOR
		var err error
		if value, err = resources.Transcode(value); err != nil {
			return nil, err
		}
	}
	o, err := outlineOf(value)
	if err != nil {
		return nil, err
	}
	if old != nil && old.outline.same(o) {
		return old, nil
	}
	next := &installed{outline: o}
	if !True(o.definition, apiextensionsv1.Established) {
		return next, nil
	}
	whole := func() (*apiextensionsv1.CustomResourceDefinition, error) { return i.decode(value) }
	d, err := whole()
	if err != nil {
		return nil, err
	}
	next.entries = entries(d, whole, i.clients)
	for _, r := range next.entries {
		r.State = fmt.Sprintf("%s/%x/%s", d.UID, o.spec, r.Kind)
	}
	return next, nil
}

func (i *Installer) decode(value []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	obj, err := kind(i.types).Decode(value)
	if err != nil {
		return nil, err
	}
	return obj.(*apiextensionsv1.CustomResourceDefinition), nil
}

// sameNames treats empty and absent slices as equal.
func sameNames(a, b apiextensionsv1.CustomResourceDefinitionNames) bool {
	return a.Plural == b.Plural && a.Singular == b.Singular && a.Kind == b.Kind && a.ListKind == b.ListKind &&
		slices.Equal(a.ShortNames, b.ShortNames) && slices.Equal(a.Categories, b.Categories)
}
