package apiserver

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// rendering turns objects of one resource into the bytes that one client accepts. The common
// case, JSON of the stored version, copies nothing: it is the cache's own bytes.
type rendering struct {
	res *resources.Resource
	f   format
	// include is a Table's includeObject: None, Metadata (default) or Object.
	include string
	now     time.Time
	// skip is told what is left out of a list because it can't be read.
	skip func(o *storage.Object, err error)
	// malformed collects what can't be read, where the list fails for it; nil where that is left out.
	malformed *malformed
	// views are what has been made of custom resources.
	views map[*storage.Object]*view
}

// plain reports whether objects are sent as they are in the cache.
func (x *rendering) plain() bool {
	return x.f.media == codec.MediaJSON && x.f.as == "" && x.res.FromStored == nil
}

// canonical reports whether the cached bytes are what clients are sent.
func (x *rendering) canonical(o *storage.Object) bool {
	return !x.res.Custom || o.SealedBy(x.res.Seal)
}

// key names the form for what is rendered once and shared between watchers; empty means that
// it can't be shared.
func (x *rendering) key() string {
	if x.f.as == "Table" {
		return "" // ages depend on the time
	}
	if x.res.Custom && x.res.State == "" {
		return ""
	}
	return x.f.media + ";" + x.f.as + ";" + x.f.version + ";" + x.res.Version + ";" + x.res.State
}

// object renders one object, without a newline at the end.
func (x *rendering) object(o *storage.Object) ([]byte, error) {
	if x.plain() && x.canonical(o) {
		return o.JSON, nil
	}
	if x.f.as == "" && x.f.media == codec.MediaJSON {
		if x.res.Custom {
			return x.json(o)
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
	return x.encode(obj)
}

// served decodes the object into the version of the endpoint.
func (x *rendering) served(o *storage.Object) (runtime.Object, error) {
	if x.res.Custom {
		return x.custom(o)
	}
	obj, err := registry.DecodeSound(x.res, o)
	if err != nil {
		return nil, err
	}
	if x.res.FromStored != nil {
		if obj, err = x.res.FromStored(obj); err != nil {
			return nil, fmt.Errorf("converting %s: %w", o.Key, err)
		}
		obj.GetObjectKind().SetGroupVersionKind(x.res.GroupVersionKind())
	}
	return obj, nil
}

// transformed is the object in the form of Accept's "as".
func (x *rendering) transformed(o *storage.Object) (runtime.Object, error) {
	switch x.f.as {
	case "PartialObjectMetadata":
		return x.metadata(o)
	case "PartialObjectMetadataList":
		return nil, x.noList()
	case "Table":
		return x.table([]*storage.Object{o}, metav1.ListMeta{ResourceVersion: strconv.FormatInt(o.Revision, 10)}, true)
	}
	return x.served(o)
}

func (x *rendering) metadata(o *storage.Object) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(o.JSON, m); err != nil {
		return nil, fmt.Errorf("%w: %s: %v", storage.ErrCorrupt, o.Key, err)
	}
	m.TypeMeta = x.metaType("PartialObjectMetadata")
	return m, nil
}

// noList refuses the metadata of a list for an object (AS handlers/response.go: asPartialObjectMetadataList).
func (x *rendering) noList() error {
	return notAcceptableText(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", x.internalType("")))
}

// internalType is the type by which upstream calls the resource's objects, or with a suffix their
// lists, where they can't be shown as asked.
func (x *rendering) internalType(suffix string) string {
	if x.res.Custom {
		return "*unstructured.Unstructured" + suffix
	}
	return "*" + codec.InternalPackage(x.res.Stored.Group) + "." + x.res.Kind + suffix
}

func (x *rendering) metaType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: metav1.GroupName + "/" + x.f.version}
}

// encode writes any API object in the negotiated media type.
func (x *rendering) encode(obj runtime.Object) ([]byte, error) {
	return encodeAs(obj, x.f.media)
}

func encodeAs(obj runtime.Object, media string) ([]byte, error) {
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

// newline ends JSON documents as Kubernetes ends them.
func (x *rendering) newline(data []byte) []byte {
	if x.f.media != codec.MediaJSON || len(data) > 0 && data[len(data)-1] == '\n' {
		return data
	}
	return append(data[:len(data):len(data)], '\n')
}

// indent pretty-prints JSON with two spaces.
func indent(data []byte, pretty bool) []byte {
	if !pretty {
		return data
	}
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return data
	}
	return b.Bytes()
}

// list renders a list of objects. One that can't be brought into the form asked for is left out: it
// must not keep a client from seeing all others.
func (x *rendering) list(objs []*storage.Object, m metav1.ListMeta) ([]byte, error) {
	if x.plain() || x.res.Custom && x.f.media == codec.MediaJSON && x.f.as == "" {
		var b bytes.Buffer
		err := x.plainList(&b, objs, m)
		return indent(b.Bytes(), x.f.pretty), err
	}
	obj, err := x.listObject(objs, m)
	if errors.Is(err, storage.ErrCorrupt) {
		obj, err = x.listObject(x.readable(objs), m)
	}
	if err != nil {
		return nil, err
	}
	data, err := x.encode(obj)
	return indent(x.newline(data), x.f.pretty), err
}

// readable returns those objects that can be rendered one by one.
func (x *rendering) readable(objs []*storage.Object) []*storage.Object {
	kept := make([]*storage.Object, 0, len(objs))
	one := *x
	if one.f.as == "PartialObjectMetadataList" {
		one.f.as = "PartialObjectMetadata"
	}
	for _, o := range objs {
		if _, err := one.transformed(o); err != nil {
			x.skip(o, err)
			continue
		}
		kept = append(kept, o)
	}
	return kept
}

func (x *rendering) listObject(objs []*storage.Object, m metav1.ListMeta) (runtime.Object, error) {
	switch x.f.as {
	case "Table":
		return x.table(objs, m, true)
	case "PartialObjectMetadata":
		return nil, notAcceptableText(fmt.Sprintf("you requested PartialObjectMetadata, but the requested object is a list (%s)", x.internalType("List")))
	case "PartialObjectMetadataList":
		l := &metav1.PartialObjectMetadataList{TypeMeta: x.metaType("PartialObjectMetadataList"), ListMeta: m, Items: make([]metav1.PartialObjectMetadata, 0, len(objs))}
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

// typedList is the list in the served version, for YAML, protobuf and converted versions.
func (x *rendering) typedList(objs []*storage.Object, m metav1.ListMeta) (runtime.Object, error) {
	if x.res.Custom {
		return x.unstructuredList(objs, m)
	}
	var b bytes.Buffer
	y := *x
	y.f = format{media: codec.MediaJSON}
	items := make([]*storage.Object, len(objs))
	for i, o := range objs {
		data, err := y.object(o)
		if err != nil {
			return nil, err
		}
		items[i] = &storage.Object{Key: o.Key, JSON: data, Meta: storage.Meta{APIVersion: x.res.GroupVersion().String(), Kind: x.res.Kind}}
	}
	if err := y.plainList(&b, items, m); err != nil {
		return nil, err
	}
	l, err := resources.Scheme().New(x.res.GroupVersion().WithKind(x.res.Kind + "List"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b.Bytes(), l); err != nil {
		return nil, fmt.Errorf("%w: %v", storage.ErrCorrupt, err)
	}
	return l, nil
}

func (x *rendering) unstructuredList(objs []*storage.Object, m metav1.ListMeta) (runtime.Object, error) {
	meta := map[string]any{"resourceVersion": m.ResourceVersion, "continue": m.Continue}
	if m.RemainingItemCount != nil {
		meta["remainingItemCount"] = *m.RemainingItemCount
	}
	l := &unstructured.UnstructuredList{Object: map[string]any{"kind": x.res.ListKind, "apiVersion": x.res.GroupVersion().String(), "metadata": meta}}
	for _, o := range objs {
		obj, err := x.served(o)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, *obj.(*unstructured.Unstructured))
	}
	return &unstructured.Unstructured{Object: l.UnstructuredContent()}, nil
}

// plainList joins the objects' own bytes. Items of typed lists have no kind and apiVersion, items
// of custom resources do, and their keys are in alphabetical order.
func (x *rendering) plainList(w io.Writer, objs []*storage.Object, m metav1.ListMeta) error {
	var head, tail []byte
	gv, err := json.Marshal(x.res.GroupVersion().String())
	if err != nil {
		return err
	}
	if x.res.Custom {
		head = fmt.Appendf(nil, `{"apiVersion":%s,"items":[`, gv)
		tail = fmt.Appendf(nil, `],"kind":%q,"metadata":%s}`+"\n", x.res.ListKind, customListMeta(m))
	} else {
		meta, err := json.Marshal(m)
		if err != nil {
			return err
		}
		head = fmt.Appendf(nil, `{"kind":"%sList","apiVersion":%s,"metadata":%s,"items":[`, x.res.Kind, gv, meta)
		tail = []byte("]}\n")
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for i, o := range objs {
		if i > 0 {
			if _, err := w.Write(comma); err != nil {
				return err
			}
		}
		if err := x.writeItem(w, o); err != nil {
			return err
		}
	}
	_, err = w.Write(tail)
	return err
}

func customListMeta(m metav1.ListMeta) []byte {
	out := fmt.Appendf(nil, `{"continue":%q`, m.Continue)
	if m.RemainingItemCount != nil {
		out = fmt.Appendf(out, `,"remainingItemCount":%d`, *m.RemainingItemCount)
	}
	return fmt.Appendf(out, `,"resourceVersion":%q}`, m.ResourceVersion)
}

// What stands between and before items; literals would be made anew for each.
var comma, brace = []byte{','}, []byte{'{'}

// writeItem writes an object as an item of a list.
func (x *rendering) writeItem(w io.Writer, o *storage.Object) error {
	if x.res.Custom {
		data, err := x.object(o)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	n := typeMetaLen(o)
	if n == 0 {
		_, err := w.Write(o.JSON)
		return err
	}
	if _, err := w.Write(brace); err != nil {
		return err
	}
	_, err := w.Write(o.JSON[n:])
	return err
}

// typeMetaLen is the length of the object's head {"kind":"K","apiVersion":"V", as every built-in
// object is stored; 0 if it begins otherwise.
func typeMetaLen(o *storage.Object) int {
	n := len(`{"kind":"","apiVersion":"",`) + len(o.Meta.Kind) + len(o.Meta.APIVersion)
	if len(o.JSON) > n && bytes.HasPrefix(o.JSON, []byte(`{"kind":"`)) && o.JSON[n-1] == ',' && o.JSON[n] == '"' {
		return n
	}
	return 0
}

// frameLength is how many bytes say how long a binary frame is.
const frameLength = 4

// frame wraps a rendered object into a watch event, ready to be sent.
func (x *rendering) frame(typ string, object []byte) ([]byte, error) {
	if x.f.media != codec.MediaProtobuf {
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
