package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/gzipped"
	"github.com/kubecascade/kubecascade/storage"
)

// rowsBytes is how much of a Table is encoded before it is compressed, if it is.
const rowsBytes = 64 << 10

// rowByRow reports whether the Table of a list is encoded object by object. Other Tables are made as a whole: their
// rows are sorted or marked by all objects, or they are indented, or in YAML.
func (x *Rendering) rowByRow() bool {
	return x.Format.As == "Table" && x.Format.Media == codec.MediaJSON && !x.Format.Pretty && !x.together()
}

// tableList is a list as a Table. All rows are encoded before it is sent, so that an error can be answered with its
// Status. Only the encoded rows are kept until then, compressed if the client accepts that and the Table is long.
func (x *Rendering) tableList(objs []*storage.Object, m metav1.ListMeta, compressed bool) (*List, error) {
	l, err := x.encodeRows(objs, m, compressed)
	if errors.Is(err, storage.ErrCorrupt) {
		l, err = x.encodeRows(x.readable(objs), m, compressed)
	}
	return l, err
}

// encodeRows is tableList, but fails if an object can't be read.
func (x *Rendering) encodeRows(objs []*storage.Object, m metav1.ListMeta, compressed bool) (*List, error) {
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
	l := &List{rendering: x, head: head, between: []byte{','}, tail: []byte("]}\n")}
	l.size = len(l.head) + len(l.tail)
	var rows []byte
	for i, o := range objs {
		row, err := x.encodeRow(o)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			rows = append(rows, ',')
		}
		if rows = append(rows, row...); len(rows) < rowsBytes && i < len(objs)-1 {
			continue
		}
		if len(l.runs) > 0 {
			l.size += len(l.between)
		}
		l.size += len(rows)
		l.runs = append(l.runs, run{rows: bytes.Clone(rows)})
		rows = rows[:0]
		if compressed && l.size >= GzipFrom { // shorter lists are sent as they are
			if err := l.compress(); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// compress replaces the rows that are not compressed yet, which are the last ones, by fragments.
func (l *List) compress() (err error) {
	for i := len(l.runs) - 1; i >= 0 && l.runs[i].rows != nil && err == nil; i-- {
		rows := l.runs[i].rows
		l.runs[i].rows = nil
		l.runs[i].fragment, err = gzipped.Compress(l.rendering.Reach, func(w io.Writer) error {
			_, err := w.Write(rows)
			return err
		})
	}
	return err
}

// encodeRow is the row of an object in JSON.
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
