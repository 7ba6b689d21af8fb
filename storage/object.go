package storage

import (
	"strings"
	"sync/atomic"
	"time"
)

// Object is a stored value with what everyone asks of it parsed out once. It is immutable but for
// its seal: whoever has one may read it from any goroutine and may change nothing.
type Object struct {
	// Key is the full key.
	Key string
	// Revision is the object's resourceVersion.
	Revision int64
	// JSON is the object as clients see it in its storage version: the stored JSON with
	// metadata.resourceVersion spliced in at the place where Kubernetes prints it, and no newline.
	JSON []byte
	// Meta is what is read from metadata.
	Meta Meta
	// Fields are the values of the collection's selectable fields, in the order of its
	// FieldPaths; see Decoder.
	Fields []string
	// seal is the last that was set.
	seal atomic.Pointer[Seal]
	// Err is why the value could not be decoded (it matches ErrCorrupt); JSON and Meta are then empty
	// but for Meta.Name and Meta.Namespace, which come from the key.
	Err error
}

// Seal stands for a type, for which values are looked at once. The store knows nothing of types.
type Seal struct{ _ byte }

// SealedBy reports whether the seal is the one that was set last.
func (o *Object) SealedBy(s *Seal) bool { return s != nil && o.seal.Load() == s }

// SetSeal says that whoever knows the seal's type found the value to be as it should be.
func (o *Object) SetSeal(s *Seal) { o.seal.Store(s) }

// Meta is an object's identity and lifecycle.
type Meta struct {
	APIVersion, Kind   string
	Namespace, Name    string
	UID                string
	Generation         int64
	Labels             map[string]string
	Owners             []Owner
	Finalizers         []string
	Deletion           time.Time // zero: not being deleted
	GracePeriodSeconds *int64
}

// Deleting reports whether deletionTimestamp is set.
func (m *Meta) Deleting() bool { return !m.Deletion.IsZero() }

// HasFinalizer reports whether the name is among the finalizers.
func (m *Meta) HasFinalizer(name string) bool {
	for _, f := range m.Finalizers {
		if f == name {
			return true
		}
	}
	return false
}

// Owner is one entry of metadata.ownerReferences.
type Owner struct {
	APIVersion, Kind, Name, UID string
	// Controller and Block are the values of controller and blockOwnerDeletion; absent is false.
	Controller, Block bool
}

// FieldPath is a selectable field: where in the JSON its value stands (dot separated; strings,
// numbers and booleans are printed plainly) and what it is when absent. Paths are tried in order;
// the first that is present and not empty wins.
type FieldPath struct {
	Paths   []string
	Default string
}

// Decoder turns stored values into objects.
type Decoder struct {
	// Fields returns the selectable fields of a collection, beyond metadata.name and
	// metadata.namespace; nil for none.
	Fields func(collection string) []FieldPath
	// Transcode turns kube-apiserver's protobuf storage format (the bytes begin with "k8s\x00")
	// into its JSON storage format; nil makes such values corrupt.
	Transcode func(value []byte) ([]byte, error)
	// Root is the prefix of all keys, without a slash at the end; "/registry" as a rule.
	Root string
}

// Collection returns the part of a key that names its resource, and the rest: "pods" and
// "default/a" for /registry/pods/default/a; "services/specs" and "default/s"; for custom and
// other resources with a group in their prefix "stable.example.com/crontabs" and "default/c". The
// rule needs no table of types: the first segment stands for two if it has a dot or is "services" or
// "ranges". ok is false if the key isn't below root or has no name, as /registry/ranges/serviceips.
func Collection(root, key string) (collection, rest string, ok bool) {
	s, ok := strings.CutPrefix(key, root+"/")
	if !ok {
		return "", "", false
	}
	i := strings.IndexByte(s, '/')
	if i <= 0 {
		return "", "", false
	}
	if first := s[:i]; strings.IndexByte(first, '.') >= 0 || first == "services" || first == "ranges" {
		j := strings.IndexByte(s[i+1:], '/')
		if j <= 0 {
			return "", "", false
		}
		i += 1 + j
	}
	if i+1 >= len(s) {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}
