package storage

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// protobuf and cbor are the prefixes of kube-apiserver's storage formats besides JSON. It has CBOR for custom resources
// (AM pkg/runtime/serializer/cbor; feature gate CBORServingAndStorage).
var protobuf, cbor = []byte("k8s\x00"), []byte("\xd9\xd9\xf7")

// Decode turns a record into an object. It never fails: a value that is no JSON object with metadata, or whose metadata
// can't be read, results in an object with Err set. Name and namespace come from the key. A record with revision 0
// stands for an object that is not stored, as in a dry run: it gets no resourceVersion. The object may share the
// record's bytes.
func (d *Decoder) Decode(r Record) *Object {
	o := &Object{Key: r.Key, Revision: r.ModRevision, Stale: r.Stale}
	collection, rest, known := Collection(d.Root, r.Key)
	if known {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			o.Meta.Namespace, rest = rest[:i], rest[i+1:]
		}
		o.Meta.Name = rest
	}
	identity := o.Meta
	var paths []FieldPath
	if known && d.Fields != nil {
		paths = d.Fields(collection)
	}
	err := r.Err
	if err == nil {
		err = d.decode(o, r.Value, paths)
	}
	if err != nil {
		o.JSON, o.Fields, o.Meta = nil, nil, identity
		o.Err = &corruptError{r, err}
		return o
	}
	if known {
		o.Meta.Name, o.Meta.Namespace = identity.Name, identity.Namespace
	}
	return o
}

// corruptError says why a value can't be decoded. It has the value: the object is all that is known of it.
type corruptError struct {
	record Record
	cause  error
}

// Error names the key.
func (e *corruptError) Error() string {
	return fmt.Sprintf("%v: %s: %v", ErrCorrupt, e.record.Key, e.cause)
}

// Unwrap returns ErrCorrupt and the cause.
func (e *corruptError) Unwrap() []error { return []error{ErrCorrupt, e.cause} }

// Size is how many bytes Stored returns, and a few more.
func (o *Object) Size() int {
	if corrupt := new(corruptError); errors.As(o.Err, &corrupt) {
		return len(corrupt.record.Value)
	}
	return len(o.JSON)
}

// Stored returns the value that an object was decoded from, or, if that was protobuf or CBOR, the same in JSON. If
// sealed is true, the value could not be decrypted, and is returned as it is stored.
func (o *Object) Stored() (value []byte, sealed bool, err error) {
	if corrupt := new(corruptError); errors.As(o.Err, &corrupt) {
		return corrupt.record.Value, corrupt.record.Err != nil, nil
	}
	value, err = Unsplice(o.JSON)
	return value, false, err
}

// decode sets JSON, Meta and Fields.
func (d *Decoder) decode(o *Object, value []byte, paths []FieldPath) error {
	if by := EncryptedBy(value); by != nil {
		return fmt.Errorf("it is encrypted by %s; --encryption-provider-config has the keys", by)
	}
	if bytes.HasPrefix(value, protobuf) || bytes.HasPrefix(value, cbor) {
		var err error
		if value, err = d.transcode(value); err != nil {
			return err
		}
	}
	if err := d.parse(o, value, paths); err != nil || d.Upgrade == nil {
		return err
	}
	newer, err := d.upgrade(o.Meta.APIVersion, o.Meta.Kind, value)
	if err != nil || newer == nil {
		return err
	}
	o.Meta = Meta{}
	return d.parse(o, newer, paths)
}

// upgrade calls Upgrade, and recovers its panics, as transcode does.
func (d *Decoder) upgrade(apiVersion, kind string, value []byte) (newer []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("converting it from %s: %v", apiVersion, r)
		}
	}()
	return d.Upgrade(apiVersion, kind, value)
}

// parse sets JSON, Meta and Fields of a value in JSON.
func (d *Decoder) parse(o *Object, value []byte, paths []FieldPath) (err error) {
	b := trim(value)
	s := jsonscan.New(b)
	c := locate(&s)
	if err := ended(&s, c); err != nil {
		return err
	}
	if o.Meta, err = parseMeta(b[c.begin:c.end]); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	o.Meta.APIVersion, o.Meta.Kind = c.apiVersion, c.kind
	o.Fields = Select(b, paths)
	o.JSON = b[:len(b):len(b)]
	if o.Revision != 0 {
		o.JSON = c.apply(b, o.Revision)
	}
	o.setMetadata(c.begin, c.end+len(o.JSON)-len(b)) // resourceVersion is within
	return nil
}

// transcode calls Transcode, and recovers its panics: any client of etcd may have stored the bytes.
func (d *Decoder) transcode(value []byte) (json []byte, err error) {
	if d.Transcode == nil {
		return nil, errors.New("only JSON can be read")
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading %s: %v", format(value), r)
		}
	}()
	if json, err = d.Transcode(value); err != nil {
		return nil, fmt.Errorf("reading %s: %w", format(value), err)
	}
	return json, nil
}

// format names the storage format of such a value.
func format(value []byte) string {
	if bytes.HasPrefix(value, cbor) {
		return "CBOR"
	}
	return "protobuf"
}

// Revise returns the object with another revision, as a DELETED event shows its last state with the
// revision of the deletion (C-63). It shares all but JSON with o.
func (d *Decoder) Revise(o *Object, rev int64) *Object {
	n := &Object{Key: o.Key, Revision: rev, JSON: o.JSON, Meta: o.Meta, Fields: o.Fields, Err: o.Err}
	n.verified.Store(o.verified.Load())
	if o.Err != nil {
		return n
	}
	b, err := Splice(o.JSON, rev)
	if err != nil {
		// Only an object that wasn't made by Decode can get here.
		n.Err = fmt.Errorf("%w: %s", err, o.Key)
		return n
	}
	n.JSON = b
	n.moveMetadata(o)
	return n
}
