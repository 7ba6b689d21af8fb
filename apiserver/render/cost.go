package render

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/weight"
	"github.com/kubecascade/kubecascade/storage"
)

const (
	// headMemory is the memory of a response besides its objects, rowMemory that of a row of a Table.
	headMemory, rowMemory = 16 << 10, 1 << 10
	// Copies is how many copies of an encoded response exist at a time: a growing buffer that is then copied.
	Copies = 5
	// binaryCopies is the same for protobuf, and rowCopies for Tables that are encoded row by row.
	binaryCopies, rowCopies = 3, 2
	// WatchMemory is the memory of a watch besides its request: goroutines, timers, and the buffers of a connection.
	WatchMemory = 64 << 10
	// TermMemory is the memory of a term of a selector, or of a value in it; FieldMemory that of a header or a
	// parameter. Their bytes are added.
	TermMemory, FieldMemory = 320, 160
	// GzipMemory is the memory for the compression of a response (compress/flate).
	GzipMemory = budget.Light
)

// Cost is the memory that a response with these objects takes. If cached bytes are sent, that is only the memory for
// their compression.
func (x *Rendering) Cost(r *http.Request, objs []*storage.Object) int64 {
	size := int64(sizeOf(objs))
	n := x.making(objs, size)
	if size >= GzipFrom && Compresses(r) {
		n += GzipMemory
	}
	return n
}

// making is the memory that objects of so many bytes take until they are encoded.
func (x *Rendering) making(objs []*storage.Object, size int64) (n int64) {
	plain := x.Format.Media == codec.MediaJSON && x.Format.As == "" && (x.plain() || x.Resource.Custom)
	switch {
	case plain && x.Ready(objs), x.MetadataOnly() && x.partial(x.Format.As):
	case plain:
		n = Copies*size + x.largest(objs)
	case x.Format.As == "Table":
		n = x.tableCost(objs)
	case x.Format.Media == codec.MediaProtobuf:
		n = x.binaryCost(objs)
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

// binaryCost is the memory of objects in protobuf, which are encoded one after the other. Those that keep their
// encoding take none.
func (x *Rendering) binaryCost(objs []*storage.Object) int64 {
	var others []*storage.Object
	for _, o := range objs {
		if !x.keeps() || x.Cache.Encoding(o) == nil {
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		return 0
	}
	return binaryCopies*int64(sizeOf(others)) + x.largest(others)
}

// decoded is the memory of all objects if all of them are decoded at once.
func (x *Rendering) decoded(objs []*storage.Object) (n int64) {
	shape := codec.WeightOf(x.Resource).Shape()
	for _, o := range objs {
		n += shape.JSON(o.JSON).Decoded()
	}
	return n
}

// largest is the memory of objects that are decoded one after the other. Each large one is weighed; there are usually
// few. If none is large, the longest stands for all.
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

// LargeObject is the size of objects, in bytes, from which each is weighed.
const LargeObject = 64 << 10

// tableCost is the memory of a Table: its rows, the parts of the objects in them, and the objects that are decoded at a
// time.
func (x *Rendering) tableCost(objs []*storage.Object) int64 {
	n, most := int64(len(objs))*rowMemory, 0
	copies := int64(Copies)
	if x.rowByRow() {
		copies = rowCopies
	}
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
		n += copies * int64(shown)
		most = max(most, shown)
	}
	n += (Copies - copies) * int64(most)                     // a row is made with as many copies
	if x.together() || x.Resource.Custom && !x.Ready(objs) { // they are kept
		return n + x.decoded(objs)
	}
	return n + x.largest(objs)
}

// yamlCost is the memory of objects in YAML, which is made from their JSON by way of trees.
func (x *Rendering) yamlCost(objs []*storage.Object) (n int64) {
	for _, o := range objs {
		size, _ := codec.TreeKind.YAML(o.JSON)
		n += size.Write()
	}
	return n + x.decoded(objs)
}

// indented is the memory of indented objects.
func indented(objs []*storage.Object) (n int64) {
	for _, o := range objs {
		n += Copies * weight.Indented(o.JSON)
	}
	return n
}
