package render

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/weight"
	"github.com/kubecascade/kubecascade/storage"
)

const (
	// headMemory is what an answer takes besides its objects, rowMemory a row of a Table.
	headMemory, rowMemory = 16 << 10, 1 << 10
	// Copies is how many of an encoded answer there are at a time: a buffer that grows, and is then copied.
	Copies = 5
	// binaryCopies is that of protobuf.
	binaryCopies = 3
	// WatchMemory is what a watch takes besides its request: goroutines, timers, and the buffers of a connection.
	WatchMemory = 64 << 10
	// TermMemory is what a term of a selector takes, or a value in it, fieldMemory a header or a parameter, besides their
	// bytes.
	TermMemory, FieldMemory = 320, 160
	// GzipMemory is what compressing an answer takes (compress/flate).
	GzipMemory = budget.Light
)

// Cost is the memory that an answer with these objects takes. Where they are sent as they are cached, that is nothing
// but what compressing them takes.
func (x *Rendering) Cost(r *http.Request, objs []*storage.Object) int64 {
	var size int64
	for _, o := range objs {
		size += int64(len(o.JSON))
	}
	n := x.making(objs, size)
	if size >= GzipFrom && AcceptsGzip(r) {
		n += GzipMemory
	}
	return n
}

// making is what objects of so many bytes take until they are the bytes that are sent.
func (x *Rendering) making(objs []*storage.Object, size int64) (n int64) {
	plain := x.Format.Media == codec.MediaJSON && x.Format.As == "" && (x.plain() || x.Resource.Custom)
	switch {
	case plain && x.ready(objs), x.MetadataOnly() && x.partial(x.Format.As):
	case plain:
		n = Copies*size + x.largest(objs)
	case x.Format.As == "Table":
		n = x.tableCost(objs)
	case x.Format.Media == codec.MediaProtobuf: // encoded one after the other
		n = binaryCopies*size + x.largest(objs)
	case x.Format.Media == codec.MediaYAML:
		n = x.yamlCost(objs)
	default:
		n = Copies*size + x.decoded(objs)
	}
	if x.Format.Pretty && x.Format.Media == codec.MediaJSON {
		n += indented(objs)
	}
	if n > 0 {
		n += headMemory
	}
	return n
}

// decoded is what all objects take that are decoded.
func (x *Rendering) decoded(objs []*storage.Object) (n int64) {
	shape := codec.WeightOf(x.Resource).Shape()
	for _, o := range objs {
		n += shape.JSON(o.JSON).Decoded()
	}
	return n
}

// largest is what objects take that are decoded one after the other. Only large ones are looked into, of which there
// are few as a rule; what is in others is small, or the longest's is no smaller.
func (x *Rendering) largest(objs []*storage.Object) (most int64) {
	shape := codec.WeightOf(x.Resource).Shape()
	var longest *storage.Object
	for _, o := range objs {
		if longest == nil || len(o.JSON) > len(longest.JSON) {
			longest = o
		}
		if len(o.JSON) >= LargeObject {
			most = max(most, shape.JSON(o.JSON).Decoded())
		}
	}
	if longest != nil && len(longest.JSON) < LargeObject {
		most = shape.JSON(longest.JSON).Decoded()
	}
	return most
}

// LargeObject is a size of objects that are weighed each.
const LargeObject = 64 << 10

// tableCost is what a Table takes: rows, with what of the objects is in them, and as many objects decoded as are at a
// time.
func (x *Rendering) tableCost(objs []*storage.Object) int64 {
	n := int64(len(objs)) * rowMemory
	for _, o := range objs {
		shown := len(o.JSON)
		switch {
		case x.Include == "None":
			shown = 0
		case x.Include != "Object" && shown > codec.SmallObject:
			if meta := cutMetadata(o); meta != nil {
				shown = len(meta)
			}
		}
		n += Copies * int64(shown)
	}
	if x.Resource.Table.Compare != nil || x.Resource.Custom && !x.ready(objs) { // they are kept
		return n + x.decoded(objs)
	}
	return n + x.largest(objs)
}

// yamlCost is what objects take in YAML, which is made of trees of JSON that are read as YAML.
func (x *Rendering) yamlCost(objs []*storage.Object) (n int64) {
	for _, o := range objs {
		size, _ := codec.TreeKind.YAML(o.JSON)
		n += size.Write()
	}
	return n + x.decoded(objs)
}

// indented is what indenting objects takes.
func indented(objs []*storage.Object) (n int64) {
	for _, o := range objs {
		n += Copies * weight.Indented(o.JSON)
	}
	return n
}
