package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/encryption"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// Options are choices of Inspect.
type Options struct {
	// Prefix is the prefix of the cluster's keys; if it is empty, Inspect finds it.
	Prefix string
	// Encryption decrypts values; nil for none. EncryptionFile, if it is not empty, is the file to load it from.
	Encryption     *encryption.Config
	EncryptionFile string
}

// EncryptionUsage is the help text of the flag --encryption-provider-config.
const EncryptionUsage = "`file` with the EncryptionConfiguration for stored values, as for kube-apiserver " +
	"(providers aescbc, aesgcm, secretbox and identity)"

// ErrNoCluster reports that the file has no Kubernetes cluster.
var ErrNoCluster = errors.New("it has no cluster of Kubernetes")

// Inspect opens a file and reads its whole content, unless ctx is done before.
func Inspect(ctx context.Context, path string, o Options) (*Report, error) {
	if o.EncryptionFile != "" {
		var err error
		if o.Encryption, err = encryption.Load(o.EncryptionFile); err != nil {
			return nil, fmt.Errorf("--encryption-provider-config: %w", err)
		}
	}
	f, err := snapshot.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := Read(ctx, f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Read reads the whole content of an open file, unless ctx is done before.
func Read(ctx context.Context, f *snapshot.File, o Options) (*Report, error) {
	keys, err := f.Keys()
	if err != nil {
		return nil, err
	}
	r := newReport(&f.Info)
	if r.Prefix, r.OtherPrefixes, err = Prefix(keys, o.Prefix); err != nil {
		return nil, err
	}
	in := newInspection(r, keys, o.Encryption)
	if err := f.Records(func(rec snapshot.Record) error { in.add(rec); return ctx.Err() }); err != nil {
		return nil, err
	}
	in.end()
	return r, nil
}

// Prefix returns the prefix of the cluster's keys, and those of other clusters in the same etcd. A given prefix is only
// checked.
func Prefix(keys []string, given string) (prefix string, others []string, err error) {
	if given != "" {
		given = "/" + strings.Trim(given, "/")
		if !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, given+"/") }) {
			return "", nil, fmt.Errorf("%w: no key begins with %s/", ErrNoCluster, given)
		}
		return given, nil, nil
	}
	all := snapshot.Prefixes(keys)
	if len(all) == 0 {
		return "", nil, fmt.Errorf("%w: none of its %d keys is that of the namespace default or kube-system",
			ErrNoCluster, len(keys))
	}
	return all[0], all[1:], nil
}

// inspection counts the content of a file.
type inspection struct {
	report  *Report
	types   *resources.Types
	decoder storage.Decoder
	// cipher decrypts values; nil without a configuration.
	cipher *encryption.Cipher
	// custom has the collections of the file's CustomResourceDefinitions.
	custom    map[string]bool
	resources map[string]*Resource
	problems  *problems
}

const definitions = "apiextensions.k8s.io/customresourcedefinitions"

func newInspection(r *Report, keys []string, c *encryption.Config) *inspection {
	in := &inspection{report: r, types: resources.NewTable(resources.Every(nil)...), custom: map[string]bool{},
		resources: map[string]*Resource{}, problems: newProblems()}
	in.decoder = storage.Decoder{Transcode: resources.Transcode, Upgrade: resources.Upgrade, Root: r.Prefix}
	if c != nil {
		in.cipher = c.Cipher(in.types.GroupResource, r.Prefix)
	}
	for _, key := range keys {
		if collection, name, ok := storage.Collection(r.Prefix, key); ok && collection == definitions {
			plural, group, _ := strings.Cut(name, ".") // as validation requires (AX pkg/apis/apiextensions/validation)
			in.custom[group+"/"+plural] = true
		}
	}
	return in
}

// internal has the collections of values that are no objects of a resource: addresses of API servers (K
// pkg/controlplane/reconcilers/lease.go) and allocated ranges.
var internal = []string{"masterleases", "peerserverleases", "ranges", "ranges/serviceips", "ranges/servicenodeports"}

func (in *inspection) add(rec snapshot.Record) {
	r := in.report
	r.Keys++
	if !strings.HasPrefix(rec.Key, r.Prefix+"/") {
		r.OutsidePrefix++
		return
	}
	collection, _, ok := storage.Collection(r.Prefix, rec.Key)
	if !ok || slices.Contains(internal, collection) {
		r.Internal++
		return
	}
	r.Objects++
	size := len(rec.Value)
	r.Largest = keep(r.Largest, Object{Key: rec.Key, Bytes: size}, bySize)
	o, why := in.decode(collection, rec)
	in.problems.add(collection, o, why)
	res := in.resource(collection)
	res.Objects++
	res.Bytes += int64(size)
	res.Encodings[EncodingOf(rec.Value)]++
	if by := storage.EncryptedBy(rec.Value); by != nil {
		r.encryptedBy(by)
	}
	if o.Meta.Namespace != "" {
		res.Namespaces[o.Meta.Namespace]++
	}
	if o.Meta.APIVersion != "" {
		res.Versions[o.Meta.APIVersion]++
	}
	if why != "" {
		r.UnreadableObjects++
		res.Unreadable++
		r.Unreadable = keep(r.Unreadable, Object{Key: rec.Key, Bytes: size, Why: why}, byKey)
	}
}

// decode decodes a value as the server does. If that is impossible, it returns the reason why.
func (in *inspection) decode(collection string, rec snapshot.Record) (o *storage.Object, why string) {
	stored := storage.Record{Key: rec.Key, Value: rec.Value, ModRevision: rec.Revision}
	if in.cipher != nil {
		stored.Value, _, stored.Err = in.cipher.Open(rec.Key, rec.Value)
	}
	o = in.decoder.Decode(stored)
	err := o.Err
	if r := in.types.Collection(collection); err == nil && r != nil {
		_, err = codec.DecodeReadable(r, o)
	}
	if err == nil {
		return o, ""
	}
	// The error and its cause begin with the key.
	why = strings.TrimPrefix(err.Error(), storage.ErrCorrupt.Error()+": ")
	return o, strings.TrimPrefix(why, rec.Key+": ")
}

func (in *inspection) resource(collection string) *Resource {
	res := in.resources[collection]
	if res == nil {
		gr, r := in.types.GroupResource(collection), in.types.Collection(collection)
		res = &Resource{
			Group: gr.Group, Resource: gr.Resource, Served: r != nil && !r.Off || r == nil && in.custom[collection],
			Namespaces: map[string]int{}, Encodings: map[Encoding]int{}, Versions: map[string]int{},
		}
		in.resources[collection] = res
	}
	return res
}

// end completes the report.
func (in *inspection) end() {
	in.report.Findings, in.report.Problems = in.problems.findings()
	for _, name := range slices.Sorted(maps.Keys(in.resources)) {
		in.report.Resources = append(in.report.Resources, *in.resources[name])
	}
	slices.SortStableFunc(in.report.Resources, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
	})
}
