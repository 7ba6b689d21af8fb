package graph

import (
	"cmp"
	"fmt"
	"strings"
)

// Key says where an object is stored.
type Key struct {
	// Collection is the part of the storage key that names the resource ("pods", "services/specs").
	Collection string
	// Namespace is empty for cluster-scoped objects.
	Namespace, Name string
}

// String is the storage key without its root: pods/default/a.
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

// Owner is one owner reference.
type Owner struct {
	APIVersion, Kind, Name, UID string
	// Block is blockOwnerDeletion; absent is false.
	Block bool
}

// Object is what the graph needs of a stored object.
type Object struct {
	Key
	// APIVersion and Kind are those of the stored version.
	APIVersion, Kind string
	UID              string
	// Revision is that of the last write.
	Revision int64
	Owners   []Owner
	Flags    Flags
}

// Flags are an object's lifecycle as its metadata shows it.
type Flags uint8

// The flags.
const (
	// Deleting: deletionTimestamp is set.
	Deleting Flags = 1 << iota
	// OrphanFinalizer and ForegroundFinalizer: the collector's finalizers are present.
	OrphanFinalizer
	ForegroundFinalizer
	// Broken: the stored value can't be read. UID, Owners and the other flags mean nothing then.
	Broken
)

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

// Ref names one state of one object.
type Ref struct {
	Key
	APIVersion, Kind string
	UID              string
	// Revision is the one that the decision was made on.
	Revision int64
}

// String prints the key and the revision.
func (r Ref) String() string { return fmt.Sprintf("%s@%d", r.Key, r.Revision) }

// Guard is a key that a decision rests on, with the mod revision that it must still have
// (0: nothing is stored there).
type Guard struct {
	Key      Key
	Revision int64
	// Held asks less: the key may hold what it held at Revision in a later state, too, or nothing.
	// Whatever is written to an object of another uid, it isn't the owner.
	Held bool
}

// String prints the key and the revision, with a plus if a later one of the same object will do.
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

// Kind is one entry of the table of types: what owner references of this apiVersion and kind mean.
type Kind struct {
	APIVersion, Kind string
	// Collection is where its objects are stored.
	Collection string
	Namespaced bool
	// Preferred marks the version by which the collection's objects are named in reports.
	Preferred bool
}
