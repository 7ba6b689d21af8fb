package render

import (
	"bytes"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// rowByRow reports whether the rows of a list's Table are encoded one by one. A Table is made as a whole if its rows
// depend on each other (sorting, the mark of the default), or if it is indented or in YAML.
func (x *Rendering) rowByRow() bool {
	return x.Format.As == "Table" && x.Format.Media == codec.MediaJSON && !x.Format.Pretty && !x.together()
}

// tableList returns a list as a Table. It encodes all rows before the response starts, so that an error can be sent as
// a Status. It keeps only the encoded rows.
func (x *Rendering) tableList(objs []*storage.Object, m metav1.ListMeta) (*List, error) {
	l, err := x.encodeRows(objs, m)
	if errors.Is(err, storage.ErrCorrupt) {
		l, err = x.encodeRows(x.readable(objs), m)
	}
	return l, err
}

// encodeRows is tableList, but returns an error if an object can't be read.
func (x *Rendering) encodeRows(objs []*storage.Object, m metav1.ListMeta) (*List, error) {
	empty, err := x.Table(nil, m, true)
	if err != nil {
		return nil, err
	}
	data, err := x.Encode(empty)
	if err != nil {
		return nil, err
	}
	head, ok := bytes.CutSuffix(data, []byte("]}"))
	if !ok { // rows are the last field of a Table
		return nil, errors.New("a Table does not end with its rows")
	}
	l := &List{head: head, between: []byte{','}, tail: []byte("]}\n")}
	l.size = len(l.head) + len(l.tail) + max(0, len(objs)-1)*len(l.between)
	for _, o := range objs {
		row, err := x.encodeRow(o)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, row)
		l.size += len(row)
	}
	return l, nil
}

// encodeRow returns the row of an object in JSON.
func (x *Rendering) encodeRow(o *storage.Object) ([]byte, error) {
	obj, err := x.shown(o)
	if err != nil {
		return nil, err
	}
	row, err := x.row(o, obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(row)
}
