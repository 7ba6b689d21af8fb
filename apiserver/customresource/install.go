package customresource

import (
	"fmt"
	"log/slog"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/storage"
)

// Installer updates the custom entries of a table when stored CRDs change. It gets each event before all other
// consumers. So a client that sees that a CRD is established finds its resource served, and no watcher sees an object
// before its type. One goroutine owns it.
type Installer struct {
	types   *resources.Types
	decoder *storage.Decoder
	// prefix is the prefix of the keys of CRDs.
	prefix string
	// clients call conversion webhooks.
	clients *webhook.Clients
	log     *slog.Logger
	// installed are the CRDs with entries in the table, by key.
	installed map[string]*installed
}

type installed struct {
	outline outline
	entries []*resources.Resource
}

// NewInstaller returns an Installer for the table. clients call conversion webhooks.
func NewInstaller(
	types *resources.Types, decoder *storage.Decoder, clients *webhook.Clients, log *slog.Logger,
) *Installer {
	collection := types.Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions").Collection
	return &Installer{
		types: types, decoder: decoder, prefix: decoder.Root + "/" + collection + "/", clients: clients, log: log,
		installed: map[string]*installed{},
	}
}

// Apply processes the next batch of events. In the returned batch, CRDs are decoded: their entries share the schemas
// with these objects.
func (i *Installer) Apply(b storage.Batch) storage.Batch {
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
	for n, e := range b.Events {
		if !strings.HasPrefix(e.Key, i.prefix) {
			continue
		}
		if len(b.Decoded) < len(b.Events) {
			b.Decoded = append(make([]*storage.Object, 0, len(b.Events)), b.Decoded...)[:len(b.Events)]
		}
		if e.Value != nil && b.Decoded[n] == nil {
			b.Decoded[n] = i.decoder.Decode(
				storage.Record{Key: e.Key, Value: e.Value, ModRevision: e.Revision, Sealed: e.Sealed},
			)
		}
		i.install(e.Key, b.Decoded[n])
	}
	return b
}

// install replaces the entries of a stored CRD in the table. o is nil if it was deleted. A CRD that can't be decoded
// keeps its entries, because its objects still exist.
func (i *Installer) install(key string, o *storage.Object) {
	old := i.installed[key]
	if o == nil {
		if old != nil {
			i.types.Replace(old.entries, nil)
			delete(i.installed, key)
		}
		return
	}
	next, err := (*installed)(nil), o.Err
	if err == nil {
		next, err = i.read(o.JSON, old)
	}
	if err != nil {
		i.log.Warn("a stored CustomResourceDefinition can't be decoded", "key", key, "err", err)
		return
	}
	if old == nil {
		old = &installed{}
	}
	i.types.Replace(old.entries, next.entries)
	i.installed[key] = next
}

// read returns the entries of a stored CRD. It returns old if nothing relevant has changed.
func (i *Installer) read(value []byte, old *installed) (*installed, error) {
	o, err := outlineOf(value)
	if err != nil {
		return nil, err
	}
	if old != nil && old.outline.same(o) {
		return old, nil
	}
	next := &installed{outline: o, entries: entries(o.definition, o.schema, i.clients)}
	for _, r := range next.entries {
		r.State = fmt.Sprintf("%s/%x/%s", o.definition.UID, o.spec, r.Kind)
	}
	return next, nil
}
