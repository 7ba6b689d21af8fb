package render

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Rendering encodes objects of one resource in the format that one client accepts. The usual format is JSON of the
// stored version: the cached bytes, without a copy.
type Rendering struct {
	Resource *resources.Resource
	Format   Format
	// Include is a Table's includeObject: None, Metadata (default) or Object.
	Include string
	Now     time.Time
	// Skip is called for each object that a list omits because it can't be decoded.
	Skip func(o *storage.Object, err error)
	// Malformed collects unreadable objects if they make a list fail. It is nil if lists omit them.
	Malformed *Malformed
	// Cache caches the protobuf encodings of objects. It may be nil.
	Cache *cache.Cache
	// Views are the conversions of custom resources.
	Views map[*storage.Object]*view
}

// plain reports whether the format is that of the cached bytes.
func (x *Rendering) plain() bool {
	return x.Format.Media == codec.MediaJSON && x.Format.As == "" && x.Resource.FromStored == nil
}

// canonical reports whether clients get the cached bytes of the object.
func (x *Rendering) canonical(o *storage.Object) bool {
	return !x.Resource.Custom || o.VerifiedBy(x.Resource.Verified)
}

// Key identifies the format of encodings that watchers share. It is empty if they can't be shared.
func (x *Rendering) Key() string {
	if x.Resource.Custom && x.Resource.State == "" {
		return ""
	}
	return x.Format.Media + ";" + x.Format.As + ";" + x.Format.Version + ";" + x.Include + ";" + x.Resource.Group + "/" +
		x.Resource.Version + ";" + x.Resource.State
}

// Object encodes one object, without a newline at the end.
func (x *Rendering) Object(o *storage.Object) ([]byte, error) {
	if x.plain() && x.canonical(o) {
		return o.JSON, nil
	}
	if x.cachesEncoding() {
		return x.binaryObject(o)
	}
	if x.Format.As == "" && x.Format.Media == codec.MediaJSON {
		if x.Resource.Custom {
			return x.JSON(o)
		}
		obj, err := x.served(o)
		if err != nil {
			return nil, err
		}
		return json.Marshal(obj)
	}
	if x.partial("PartialObjectMetadata") {
		if data := x.partialObject(o); data != nil {
			return data, nil
		}
	}
	obj, err := x.transformed(o)
	if err != nil {
		return nil, err
	}
	return x.Encode(obj)
}

// served decodes an object into the version of the request.
func (x *Rendering) served(o *storage.Object) (runtime.Object, error) {
	if x.Resource.Custom {
		return x.custom(o)
	}
	obj, err := codec.DecodeReadable(x.Resource, o)
	if err != nil {
		return nil, err
	}
	if x.Resource.FromStored != nil {
		if obj, err = x.Resource.FromStored(obj); err != nil {
			return nil, fmt.Errorf("converting %s: %w", o.Key, err)
		}
		obj.GetObjectKind().SetGroupVersionKind(x.Resource.GroupVersionKind())
	}
	return obj, nil
}

// transformed returns the object as the kind that Accept requests.
func (x *Rendering) transformed(o *storage.Object) (runtime.Object, error) {
	switch x.Format.As {
	case "PartialObjectMetadata":
		return x.metadata(o)
	case "PartialObjectMetadataList":
		return nil, x.NoList()
	case "Table":
		return x.Table([]*storage.Object{o}, metav1.ListMeta{ResourceVersion: strconv.FormatInt(o.Revision, 10)}, true)
	}
	return x.served(o)
}

func (x *Rendering) metadata(o *storage.Object) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{TypeMeta: x.metaType("PartialObjectMetadata")}
	from, to := jsonscan.Member(o.JSON, "metadata")
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.JSON[from:to], &m.ObjectMeta); err != nil {
		return nil, fmt.Errorf("%w: %s: %v", storage.ErrCorrupt, o.Key, err)
	}
	return m, nil
}

// NoList returns the error for a request of a list's metadata if the response is an object (AS handlers/response.go:
// asPartialObjectMetadataList).
func (x *Rendering) NoList() error {
	return notAcceptableText(fmt.Sprintf(
		"you requested PartialObjectMetadataList, but the requested object is not a list (%s)", x.internalType("")))
}

// internalType returns upstream's internal type of the resource's objects or, with the suffix List, of their lists.
// Messages about unavailable formats contain it.
func (x *Rendering) internalType(suffix string) string {
	if x.Resource.Custom {
		return "*unstructured.Unstructured" + suffix
	}
	return "*" + codec.InternalPackage(x.Resource.Stored.Group) + "." + x.Resource.Kind + suffix
}

func (x *Rendering) metaType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: metav1.GroupName + "/" + x.Format.Version}
}

// Encode encodes any API object in the negotiated media type.
func (x *Rendering) Encode(obj runtime.Object) ([]byte, error) {
	return EncodeAs(obj, x.Format.Media)
}

// EncodeAs encodes any API object in a media type.
func EncodeAs(obj runtime.Object, media string) ([]byte, error) {
	switch media {
	case codec.MediaProtobuf:
		return runtime.Encode(protobuf.NewSerializer(resources.Scheme(), resources.Scheme()), obj)
	case codec.MediaYAML:
		if u, ok := obj.(*unstructured.Unstructured); ok {
			return yaml.Marshal(u.Object)
		}
		return yaml.Marshal(obj)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return json.Marshal(u.Object)
	}
	return json.Marshal(obj)
}

// Newline adds the newline at the end of Kubernetes' JSON documents.
func (x *Rendering) Newline(data []byte) []byte {
	if x.Format.Media != codec.MediaJSON || len(data) > 0 && data[len(data)-1] == '\n' {
		return data
	}
	return append(data[:len(data):len(data)], '\n')
}

// Indent indents JSON by two spaces if pretty is set.
func Indent(data []byte, pretty bool) []byte {
	if !pretty {
		return data
	}
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return data
	}
	return b.Bytes()
}

// List encodes a list of objects. It omits objects that can't be converted to the requested format, so that clients can
// read the others.
func (x *Rendering) List(objs []*storage.Object, m metav1.ListMeta) ([]byte, error) {
	if x.plain() || x.Resource.Custom && x.Format.Media == codec.MediaJSON && x.Format.As == "" {
		data, err := x.joinedList(objs, m)
		return Indent(data, x.Format.Pretty), err
	}
	obj, err := x.ListObject(objs, m)
	if errors.Is(err, storage.ErrCorrupt) {
		obj, err = x.ListObject(x.readable(objs), m)
	}
	if err != nil {
		return nil, err
	}
	data, err := x.Encode(obj)
	return Indent(x.Newline(data), x.Format.Pretty), err
}

// readable returns the objects that can be encoded.
func (x *Rendering) readable(objs []*storage.Object) []*storage.Object {
	kept := make([]*storage.Object, 0, len(objs))
	one := *x
	if one.Format.As == "PartialObjectMetadataList" {
		one.Format.As = "PartialObjectMetadata"
	}
	for _, o := range objs {
		if _, err := one.transformed(o); err != nil {
			x.Skip(o, err)
			continue
		}
		kept = append(kept, o)
	}
	return kept
}

// ListObject returns the list as a Go value.
func (x *Rendering) ListObject(objs []*storage.Object, m metav1.ListMeta) (runtime.Object, error) {
	switch x.Format.As {
	case "Table":
		return x.listTable(objs, m)
	case "PartialObjectMetadata":
		return nil, notAcceptableText(fmt.Sprintf(
			"you requested PartialObjectMetadata, but the requested object is a list (%s)", x.internalType("List")))
	case "PartialObjectMetadataList":
		l := &metav1.PartialObjectMetadataList{TypeMeta: x.metaType("PartialObjectMetadataList"), ListMeta: m,
			Items: make([]metav1.PartialObjectMetadata, 0, len(objs))}
		for _, o := range objs {
			item, err := x.metadata(o)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, *item)
		}
		return l, nil
	}
	return x.typedList(objs, m)
}

// typedList returns the list in the served version, for YAML, protobuf and converted versions.
func (x *Rendering) typedList(objs []*storage.Object, m metav1.ListMeta) (runtime.Object, error) {
	if x.Resource.Custom {
		return x.unstructuredList(objs, m)
	}
	y := *x
	y.Format = Format{Media: codec.MediaJSON}
	items := make([]*storage.Object, len(objs))
	for i, o := range objs {
		data, err := y.Object(o)
		if err != nil {
			return nil, err
		}
		items[i] = &storage.Object{Key: o.Key, JSON: data,
			Meta: storage.Meta{APIVersion: x.Resource.GroupVersion().String(), Kind: x.Resource.Kind}}
	}
	data, err := y.joinedList(items, m)
	if err != nil {
		return nil, err
	}
	l, err := resources.Scheme().New(x.Resource.GroupVersion().WithKind(x.Resource.Kind + "List"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%w: %v", storage.ErrCorrupt, err)
	}
	return l, nil
}

func (x *Rendering) unstructuredList(objs []*storage.Object, m metav1.ListMeta) (runtime.Object, error) {
	meta := map[string]any{"resourceVersion": m.ResourceVersion, "continue": m.Continue}
	if m.RemainingItemCount != nil {
		meta["remainingItemCount"] = *m.RemainingItemCount
	}
	l := &unstructured.UnstructuredList{Object: map[string]any{"kind": x.Resource.ListKind,
		"apiVersion": x.Resource.GroupVersion().String(), "metadata": meta}}
	for _, o := range objs {
		obj, err := x.served(o)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, *obj.(*unstructured.Unstructured))
	}
	return &unstructured.Unstructured{Object: l.UnstructuredContent()}, nil
}

// plainList joins the stored bytes of the objects. Items of a typed list have no kind and apiVersion. A list of custom
// resources has them in its items, and its members are in alphabetical order.
func (x *Rendering) plainList(objs []*storage.Object, m metav1.ListMeta) (*List, error) {
	l := &List{objs: objs, encode: x.Object, between: []byte{','}}
	gv, err := json.Marshal(x.Resource.GroupVersion().String())
	if err != nil {
		return nil, err
	}
	if x.Resource.Custom {
		l.head = fmt.Appendf(nil, `{"apiVersion":%s,"items":[`, gv)
		l.tail = fmt.Appendf(nil, `],"kind":%q,"metadata":%s}`+"\n", x.Resource.ListKind, customListMeta(m))
		return l, l.measure()
	}
	meta, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	l.head = fmt.Appendf(nil, `{"kind":"%sList","apiVersion":%s,"metadata":%s,"items":[`, x.Resource.Kind, gv, meta)
	l.first, l.between, l.tail, l.encode = []byte{'{'}, []byte(",{"), []byte("]}\n"), members
	return l, l.measure()
}

// joinedList returns plainList as one byte slice.
func (x *Rendering) joinedList(objs []*storage.Object, m metav1.ListMeta) ([]byte, error) {
	l, err := x.plainList(objs, m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = l.Write(&b)
	return b.Bytes(), err
}

func customListMeta(m metav1.ListMeta) []byte {
	out := fmt.Appendf(nil, `{"continue":%q`, m.Continue)
	if m.RemainingItemCount != nil {
		out = fmt.Appendf(out, `,"remainingItemCount":%d`, *m.RemainingItemCount)
	}
	return fmt.Appendf(out, `,"resourceVersion":%q}`, m.ResourceVersion)
}

// members returns the JSON of a built-in object after its opening brace, without the kind and apiVersion, with which
// stored objects begin.
func members(o *storage.Object) ([]byte, error) {
	n := len(`{"kind":"","apiVersion":"",`) + len(o.Meta.Kind) + len(o.Meta.APIVersion)
	if len(o.JSON) > n && bytes.HasPrefix(o.JSON, []byte(`{"kind":"`)) && o.JSON[n-1] == ',' && o.JSON[n] == '"' {
		return o.JSON[n:], nil
	}
	_, rest, _ := bytes.Cut(o.JSON, []byte{'{'})
	return rest, nil
}

// FrameLength is the number of bytes of the length before a binary frame.
const FrameLength = 4

// Frame encodes a watch event with an encoded object.
func (x *Rendering) Frame(typ string, object []byte) ([]byte, error) {
	if x.Format.Media != codec.MediaProtobuf {
		out := make([]byte, 0, len(object)+len(typ)+32)
		out = append(out, `{"type":"`...)
		out = append(out, typ...)
		out = append(out, `","object":`...)
		out = append(out, bytes.TrimSuffix(object, []byte{'\n'})...)
		return append(out, "}\n"...), nil
	}
	ev := metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: object}}
	data, err := ev.Marshal()
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...), nil
}
