package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Key is the key of a stored object. It is a part of gc/explain's answers in JSON.
type Key struct {
	// Collection is the part of the storage key that names the resource ("pods", "services/specs").
	Collection string `json:"resource"`
	// Namespace is empty for cluster-scoped objects.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns the storage key without its root: pods/default/a.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Collection + "/" + k.Name
	}
	return k.Collection + "/" + k.Namespace + "/" + k.Name
}

// Compare orders keys by collection, namespace and name.
func (k Key) Compare(o Key) int {
	return cmp.Or(
		strings.Compare(k.Collection, o.Collection),
		strings.Compare(k.Namespace, o.Namespace),
		strings.Compare(k.Name, o.Name),
	)
}

// Owner is one owner reference. It is a part of gc/explain's answers in JSON.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Block      bool   `json:"blockOwnerDeletion,omitempty"` // absent is false
}

// Aggregated is the prefix of the collections of other servers. No collection of the store begins with it, because the
// group of a custom resource has a dot.
const Aggregated = "aggregated/"

// Object has the fields of an object that the graph needs.
type Object struct {
	Key
	// APIVersion and Kind are those of the stored version.
	APIVersion, Kind string
	UID              string
	// Revision is the revision of the last write.
	Revision int64
	Owners   []Owner
	Flags    Flags
}

// Flags are an object's lifecycle, from its metadata.
type Flags uint8

// The flags.
const (
	// Deleting: deletionTimestamp is set.
	Deleting Flags = 1 << iota
	// OrphanFinalizer and ForegroundFinalizer: the collector's finalizers are present.
	OrphanFinalizer
	ForegroundFinalizer
	// Broken: the stored value can't be decoded. UID, Owners and the other flags are then unknown.
	Broken
)

// FlagsOf returns the flags of an object that can be decoded.
func FlagsOf(deleting bool, finalizers []string) (f Flags) {
	if deleting {
		f |= Deleting
	}
	if slices.Contains(finalizers, Orphan.String()) {
		f |= OrphanFinalizer
	}
	if slices.Contains(finalizers, Foreground.String()) {
		f |= ForegroundFinalizer
	}
	return f
}

// Has reports whether all of the given flags are set.
func (f Flags) Has(g Flags) bool { return f&g == g }

// String lists the flags.
func (f Flags) String() string {
	var words []string
	for i, word := range []string{"deleting", "orphan", "foreground", "broken"} {
		if f.Has(1 << i) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ",")
}

// Ref identifies one state of one object.
type Ref struct {
	Key
	APIVersion, Kind string
	UID              string
	// Revision is the revision on which the decision was made.
	Revision int64
}

// String prints the key and the revision.
func (r Ref) String() string { return fmt.Sprintf("%s@%d", r.Key, r.Revision) }

// Guard is a key that a decision depends on, with the mod revision that it must still have (0: the key must not exist).
type Guard struct {
	Key      Key
	Revision int64
	// Held is a weaker condition: the object at the key, which isn't the owner as it has another uid, may have been
	// updated or deleted since Revision.
	Held bool
}

// String prints the key and the revision, with a plus if a later revision of the same object is allowed.
func (g Guard) String() string {
	if g.Held {
		return fmt.Sprintf("%s@%d+", g.Key, g.Revision)
	}
	return fmt.Sprintf("%s@%d", g.Key, g.Revision)
}

func (g Guard) compare(h Guard) int {
	c := cmp.Or(g.Key.Compare(h.Key), cmp.Compare(g.Revision, h.Revision))
	switch {
	case c != 0 || g.Held == h.Held:
		return c
	case h.Held:
		return -1
	}
	return 1
}

// Kind is one entry of the table of types: the meaning of owner references with this apiVersion and kind.
type Kind struct {
	APIVersion, Kind string
	// Collection is the collection of its objects.
	Collection string
	Namespaced bool
	// Preferred marks the version in which reports name the collection's objects.
	Preferred bool
}
