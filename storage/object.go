package storage

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"weak"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// Object is a stored value with its metadata parsed. It is immutable except for its verification and its decoded form,
// and may be read from any goroutine. The fields that lists read are the first, so that they are adjacent in memory.
type Object struct {
	// Key is the full key.
	Key string
	// Revision is the object's resourceVersion.
	Revision int64
	// JSON is the object as clients see it in its storage version: the stored JSON with
	// metadata.resourceVersion spliced in at the place where Kubernetes prints it, and no newline.
	JSON []byte
	// verified is the verification that was set last; nil for none.
	verified atomic.Pointer[Verification]
	// decoded is the argument of SetDecoded; nil for none.
	decoded atomic.Value
	// Err is the reason why the value could not be decoded (it matches ErrCorrupt). JSON and Meta are then empty,
	// except Meta.Name and Meta.Namespace, which come from the key.
	Err error
	// Meta has the parsed fields of metadata.
	Meta Meta
	// Fields are the values of the collection's selectable fields, in the order of its FieldPaths; see Decoder.
	Fields []string
	// Stale is as in the record.
	Stale bool
	// begin and end delimit the value of metadata in JSON; both are 0 in an object that was not decoded here.
	begin, end int
}

// Metadata returns the value of metadata in JSON; empty if there is none.
func (o *Object) Metadata() []byte {
	from, to := o.begin, o.end
	if to == 0 {
		from, to = jsonscan.Member(o.JSON, "metadata")
	}
	return o.JSON[from:to]
}

// Verification identifies a type, whose checks objects may have passed. This package does not depend on types.
type Verification struct{ _ byte }

// VerifiedBy reports whether the object has passed the checks of the verification's type.
func (o *Object) VerifiedBy(s *Verification) bool { return s != nil && o.verified.Load() == s }

// SetVerified records that the object has passed the checks of the verification's type.
func (o *Object) SetVerified(s *Verification) { o.verified.Store(s) }

// SetVerifiedAs is SetVerified with the verification of another object with the same JSON.
func (o *Object) SetVerifiedAs(other *Object) { o.verified.Store(other.verified.Load()) }

// Decoded returns the value of SetDecoded until the next garbage collection, then nil. It must not be changed.
func (o *Object) Decoded() any {
	w, _ := o.decoded.Load().(weak.Pointer[any])
	if v := w.Value(); v != nil {
		return *v
	}
	return nil
}

// SetDecoded sets the decoded object.
func (o *Object) SetDecoded(v any) { o.decoded.Store(weak.Make(&v)) }

// Meta is an object's identity and lifecycle.
type Meta struct {
	APIVersion, Kind   string            `json:"-"`
	Namespace          string            `json:"namespace"`
	Name               string            `json:"name"`
	UID                string            `json:"uid"`
	Generation         int64             `json:"generation"`
	Labels             map[string]string `json:"labels"`
	Owners             []Owner           `json:"ownerReferences"`
	Finalizers         []string          `json:"finalizers"`
	Created            time.Time         `json:"-"`                 // zero: not known
	Deletion           time.Time         `json:"deletionTimestamp"` // zero: not being deleted
	GracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds"`
}

// Deleting reports whether deletionTimestamp is set.
func (m *Meta) Deleting() bool { return !m.Deletion.IsZero() }

// Controller returns the UID of the owner that controls the object; empty if there is none.
func (m *Meta) Controller() string {
	if i := slices.IndexFunc(m.Owners, func(o Owner) bool { return o.Controller }); i >= 0 {
		return m.Owners[i].UID
	}
	return ""
}

// Owner is one entry of metadata.ownerReferences.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
	Block      bool   `json:"blockOwnerDeletion"`
}

// FieldPath is a selectable field: the paths of its value in the JSON (dot separated), and its default. Strings,
// numbers and booleans are printed plainly. Paths are tried in order. The first value that is present and not empty is
// used.
type FieldPath struct {
	Paths   []string
	Default string
}

// Decoder turns stored values into objects.
type Decoder struct {
	// Fields returns the selectable fields of a collection, besides metadata.name and metadata.namespace; nil for none.
	Fields func(collection string) []FieldPath
	// Transcode turns kube-apiserver's storage formats protobuf (the bytes begin with "k8s\x00") and CBOR (with the tag
	// d9d9f7) into its JSON storage format; nil makes such values corrupt.
	Transcode func(value []byte) ([]byte, error)
	// Upgrade converts the JSON of an object to the version that objects of its kind have here; nil, or a nil result, for
	// none.
	Upgrade func(apiVersion, kind string, value []byte) ([]byte, error)
	// Root is the prefix of all keys, without a slash at the end; usually "/registry".
	Root string
}

// Collection returns the part of a key that names its resource, and the rest: "pods" and "default/a" for
// /registry/pods/default/a; "services/specs" and "default/s"; for custom and other resources with a group in their
// prefix "stable.example.com/crontabs" and "default/c". The rule needs no table of types: the resource has two segments
// if the first has a dot or is "services" or "ranges". ok is false if the key isn't below root or has no name, as
// /registry/ranges/serviceips.
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
