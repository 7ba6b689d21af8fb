package backup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// Most is the maximum number of largest objects, and of unreadable objects, in a report.
const Most = 20

// Report describes the content of a backup.
type Report struct {
	File string `json:"file"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// Hash is "verified", or "none" for the database of a data directory.
	Hash string `json:"hash"`
	// EtcdVersion is the version of the format; empty for etcd before 3.6.
	EtcdVersion string `json:"etcdVersion,omitempty"`
	Revision    int64  `json:"revision"`
	// CompactedRevision is the revision before which there is no history.
	CompactedRevision int64 `json:"compactedRevision"`
	// Prefix is the prefix of the cluster's keys. OtherPrefixes are the prefixes of other clusters.
	Prefix        string   `json:"prefix"`
	OtherPrefixes []string `json:"otherPrefixes,omitempty"`
	// Keys is the number of keys with a value: Objects, Internal keys of the cluster that are not objects, and keys
	// that are OutsidePrefix.
	Keys          int `json:"keys"`
	Objects       int `json:"objects"`
	Internal      int `json:"internal"`
	OutsidePrefix int `json:"outsidePrefix"`
	// Resources are sorted by group and name.
	Resources []Resource `json:"resources"`
	// Encryptions has the providers and keys with which values are encrypted, sorted by provider and key.
	Encryptions []Encryption `json:"encryptions,omitempty"`
	// Largest has the largest objects, the largest first.
	Largest []Object `json:"largest"`
	// Unreadable are the first objects that can't be decoded, sorted by key. UnreadableObjects is the number of all
	// such objects.
	UnreadableObjects int      `json:"unreadableObjects"`
	Unreadable        []Object `json:"unreadable"`
	// Findings are the first problems of ownership and deletion that "lint" finds in the readable objects, at the
	// latest time in the file. Problems is the number of all problems.
	Problems int               `json:"problems"`
	Findings []explain.Finding `json:"findings"`
}

// Resource describes the objects of one resource.
type Resource struct {
	// Group is empty for the core group.
	Group    string `json:"group"`
	Resource string `json:"resource"`
	Objects  int    `json:"objects"`
	Bytes    int64  `json:"bytes"`
	// Namespaces has the number of objects by namespace; empty for cluster-scoped resources.
	Namespaces map[string]int `json:"namespaces,omitempty"`
	// Encodings and Versions have the number of objects by format, and by the apiVersion in which they are stored.
	Encodings map[Encoding]int `json:"encodings"`
	Versions  map[string]int   `json:"versions,omitempty"`
	// Served reports whether this program serves the resource: it is built in, or the backup has its
	// CustomResourceDefinition. The objects of other resources are in the file, but no client sees them.
	Served bool `json:"served"`
	// Unreadable is the number of objects that can't be decoded.
	Unreadable int `json:"unreadable,omitempty"`
}

// Name returns the resource's full name: deployments.apps.
func (r *Resource) Name() string {
	return schema.GroupResource{Group: r.Group, Resource: r.Resource}.String()
}

// Encryption is a provider and a key with which values are encrypted. This program may not be able to decrypt them.
type Encryption struct {
	// Provider is the name of a provider in an EncryptionConfiguration; empty if it is unknown. Key is the name of the
	// key; for kms, the name of the plugin.
	Provider string `json:"provider"`
	Key      string `json:"key,omitempty"`
	Objects  int    `json:"objects"`
}

// encryptedBy counts an encrypted object.
func (r *Report) encryptedBy(e *storage.Encryption) {
	one := Encryption{Provider: e.Provider, Key: e.Key}
	at, found := slices.BinarySearchFunc(r.Encryptions, one, func(a, b Encryption) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Key, b.Key))
	})
	if !found {
		r.Encryptions = slices.Insert(r.Encryptions, at, one)
	}
	r.Encryptions[at].Objects++
}

// Object is a stored value.
type Object struct {
	Key   string `json:"key"`
	Bytes int    `json:"bytes"`
	// Why is the reason why the value can't be decoded; empty if it can.
	Why string `json:"why,omitempty"`
}

// newReport returns a report with the properties of the file, without keys.
func newReport(i *snapshot.Info) *Report {
	r := &Report{File: i.Path, Bytes: i.Bytes, Hash: "none", EtcdVersion: i.Version, Revision: i.Revision,
		CompactedRevision: i.Compacted, Resources: []Resource{}, Largest: []Object{}, Unreadable: []Object{}}
	if i.Hashed {
		r.Hash = "verified"
	}
	return r
}

// Missing returns the resources with objects that are in the file but can't be served, with the number of these
// objects.
func (r *Report) Missing() (resources []string) {
	for i := range r.Resources {
		res := &r.Resources[i]
		switch {
		case !res.Served:
			resources = append(resources, fmt.Sprintf("%s (%d)", res.Name(), res.Objects))
		case res.Unreadable > 0:
			resources = append(resources, fmt.Sprintf("%s (%d of %d)", res.Name(), res.Unreadable, res.Objects))
		}
	}
	return resources
}

func (r *Report) unserved() (resources []*Resource) {
	for i := range r.Resources {
		if !r.Resources[i].Served {
			resources = append(resources, &r.Resources[i])
		}
	}
	return resources
}

// keep adds an object to a sorted list of at most Most.
func keep(list []Object, o Object, order func(a, b Object) int) []Object {
	if len(list) == Most && order(list[Most-1], o) <= 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, o, order)
	list = slices.Insert(list, at, o)
	return list[:min(len(list), Most)]
}

func bySize(a, b Object) int {
	return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Key, b.Key))
}

func byKey(a, b Object) int { return strings.Compare(a.Key, b.Key) }
