package apiserver

import (
	"net/http"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/weight"
	"github.com/kubecascade/kubecascade/storage"
)

const (
	// headMemory is what an answer takes besides its objects, rowMemory a row of a Table.
	headMemory, rowMemory = 16 << 10, 1 << 10
	// copies is how many of an encoded answer there are at a time: a buffer that grows, and is then copied.
	copies = 5
	// binaryCopies is that of protobuf.
	binaryCopies = 3
	// watchMemory is what a watch takes besides its request: goroutines, timers, and the buffers of a connection.
	watchMemory = 64 << 10
	// termMemory is what a term of a selector takes, or a value in it, fieldMemory a header or a parameter, besides their
	// bytes.
	termMemory, fieldMemory = 320, 160
	// gzipMemory is what compressing an answer takes (compress/flate).
	gzipMemory = budget.Light
)

// cost is the memory that an answer with these objects takes. Where they are sent as they are cached, that is nothing
// but what compressing them takes.
func (x *rendering) cost(r *http.Request, objs []*storage.Object) int64 {
	var size int64
	for _, o := range objs {
		size += int64(len(o.JSON))
	}
	n := x.making(objs, size)
	if size >= gzipFrom && acceptsGzip(r) {
		n += gzipMemory
	}
	return n
}

// sending is what an answer of so many bytes takes while it is sent, however slowly.
func (q *request) sending(size int64) int64 {
	if size >= gzipFrom && acceptsGzip(q.r) {
		size += gzipMemory
	}
	return size
}

// standing is what a watch takes as long as it is open: the request is kept, and what its selectors became.
func standing(r *http.Request) int64 {
	n := int64(len(r.RequestURI))
	for name, values := range r.Header {
		for _, v := range values {
			n += int64(len(name)+len(v)) + fieldMemory/2
		}
	}
	query := r.URL.RawQuery
	n += int64(strings.Count(query, "&")) * fieldMemory / 2
	terms := strings.Count(query, ",") + strings.Count(query, "%2C") + strings.Count(query, "%2c")
	return watchMemory + 2*n + int64(terms)*termMemory // of the URL there is a copy that is not escaped
}

// making is what objects of so many bytes take until they are the bytes that are sent.
func (x *rendering) making(objs []*storage.Object, size int64) (n int64) {
	plain := x.f.media == codec.MediaJSON && x.f.as == "" && (x.plain() || x.res.Custom)
	switch {
	case plain && x.ready(objs), x.metadataOnly() && x.partial(x.f.as):
	case plain:
		n = copies*size + x.largest(objs)
	case x.f.as == "Table":
		n = x.tableCost(objs)
	case x.f.media == codec.MediaProtobuf: // encoded one after the other
		n = binaryCopies*size + x.largest(objs)
	case x.f.media == codec.MediaYAML:
		n = x.yamlCost(objs)
	default:
		n = copies*size + x.decoded(objs)
	}
	if x.f.pretty && x.f.media == codec.MediaJSON {
		n += indented(objs)
	}
	if n > 0 {
		n += headMemory
	}
	return n
}

// scanCost is the memory of custom resources that are converted together while a list is read (see browse). What is
// selected of them counts with the answer.
func (s *Server) scanCost(q *request, x *rendering, limit int64) (n int64) {
	if !x.res.Custom || x.res.FromStored == nil || x.metadataOnly() {
		return 0
	}
	snapshot, err := s.registry.Cache.Snapshot(x.res.Collection, 0)
	if err != nil {
		return 0
	}
	size, count, most := 0, 0, readAhead
	if limit > 0 {
		most = int(min(limit, readAhead))
	}
	prefix := q.Key(s.registry.Root)
	snapshot.Ascend(prefix, prefix, func(o *storage.Object) bool {
		size, count = size+len(o.JSON), count+1
		n += copies*int64(len(o.JSON)) + 2*weight.Tree.JSON(o.JSON).Decoded()
		return size < readBytes && count < most
	})
	return n
}

// decoded is what all objects take that are decoded.
func (x *rendering) decoded(objs []*storage.Object) (n int64) {
	shape := codec.WeightOf(x.res).Shape()
	for _, o := range objs {
		n += shape.JSON(o.JSON).Decoded()
	}
	return n
}

// largest is what objects take that are decoded one after the other. Only large ones are looked into, of which there
// are few as a rule; what is in others is small, or the longest's is no smaller.
func (x *rendering) largest(objs []*storage.Object) (most int64) {
	shape := codec.WeightOf(x.res).Shape()
	var longest *storage.Object
	for _, o := range objs {
		if longest == nil || len(o.JSON) > len(longest.JSON) {
			longest = o
		}
		if len(o.JSON) >= largeObject {
			most = max(most, shape.JSON(o.JSON).Decoded())
		}
	}
	if longest != nil && len(longest.JSON) < largeObject {
		most = shape.JSON(longest.JSON).Decoded()
	}
	return most
}

// largeObject is a size of objects that are weighed each.
const largeObject = 64 << 10

// tableCost is what a Table takes: rows, with what of the objects is in them, and as many objects decoded as are at a
// time.
func (x *rendering) tableCost(objs []*storage.Object) int64 {
	n := int64(len(objs)) * rowMemory
	for _, o := range objs {
		shown := len(o.JSON)
		switch {
		case x.include == "None":
			shown = 0
		case x.include != "Object" && shown > codec.SmallObject:
			if meta := cutMetadata(o); meta != nil {
				shown = len(meta)
			}
		}
		n += copies * int64(shown)
	}
	if x.res.Table.Compare != nil || x.res.Custom && !x.ready(objs) { // they are kept
		return n + x.decoded(objs)
	}
	return n + x.largest(objs)
}

// yamlCost is what objects take in YAML, which is made of trees of JSON that are read as YAML.
func (x *rendering) yamlCost(objs []*storage.Object) (n int64) {
	for _, o := range objs {
		size, _ := codec.TreeKind.YAML(o.JSON)
		n += size.Write()
	}
	return n + x.decoded(objs)
}

// indented is what indenting objects takes.
func indented(objs []*storage.Object) (n int64) {
	for _, o := range objs {
		n += copies * weight.Indented(o.JSON)
	}
	return n
}
