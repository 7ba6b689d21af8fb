package codec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// TestStoredMetadata: an object of every kind is read as a decoder reads it that knows nothing of metadata.
func TestStoredMetadata(t *testing.T) {
	const metadata = `{"name":"a","namespace":"b","uid":"c","resourceVersion":"7","generation":2,"creationTimestamp":"2024-05-01T10:00:00Z","labels":{"a":"<b>"},
		"annotations":{"a":"\u003cb\u003e"},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"o","controller":true}],"finalizers":["a.io/b"],
		"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2024-05-01T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{}},"subresource":"status"}]}`
	kinds := 0
	for _, res := range resources.Builtin() {
		if res.Collection == "" || res.Custom || res.ToStored != nil {
			continue
		}
		kinds++
		data := `{"kind":"` + res.Stored.Kind + `","apiVersion":"` + res.Stored.GroupVersion().
			String() + `","metadata":` + strings.NewReplacer("\n", "", "\t", "").Replace(metadata) + `}`
		if !json.Valid([]byte(data)) {
			t.Fatalf("it's no JSON: %s", data)
		}
		like(t, res, data)
		if obj, err := resources.Scheme().New(res.Stored); err != nil ||
			len(TakeMetadata([]byte(data), obj)) >= len(metadata) {
			t.Errorf("%s: metadata isn't taken: %v", res.Stored, err)
		}
	}
	if kinds < 30 {
		t.Errorf("%d kinds were looked at", kinds)
	}
}

// TestStoredOddly: so is what a client couldn't have stored.
func TestStoredOddly(t *testing.T) {
	res := resources.NewTable(resources.Builtin()...).Lookup("", "v1", "configmaps")
	for name, c := range map[string]string{
		"no metadata":              `"data":{"a":"b"}`,
		"null":                     `"metadata":null,"data":{"a":"b"}`,
		"no object":                `"metadata":"a"`,
		"in another order":         `"metadata":{"uid":"c","name":"a"},"data":{"a":"b"}`,
		"at the end":               `"data":{"a":"b"},"metadata":{"name":"a"}`,
		"twice":                    `"metadata":{"name":"a","labels":{"a":"b"}},"metadata":{"uid":"c","labels":{"b":"c"}}`,
		"twice, the second empty":  `"metadata":{"name":"a","labels":{"a":"b"}},"metadata":{}`,
		"twice, the second null":   `"metadata":{"name":"a","labels":{"a":"b"}},"metadata":null`,
		"twice, the second first":  `"metadata":{"uid":null,"name":"b"},"metadata":{"name":"a"}`,
		"twice, the name emptied":  `"metadata":{"name":"a","labels":{"a":"b"}},"metadata":{"name":""}`,
		"twice, labels taken away": `"metadata":{"name":"a","labels":{"a":"b"}},"metadata":{"labels":null}`,
		"twice, owners shortened":  `"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"a","name":"b","uid":"c","controller":true},{"apiVersion":"v1","kind":"a","name":"b","uid":"d"}]},"metadata":{"ownerReferences":[{"uid":"e"}]}`,
		"twice, escaped first":     `"m\u0065tadata":{"name":"b","labels":{"b":"c"}},"metadata":{"name":"a","labels":{"a":"b"}}`,
		"twice, the second wrong":  `"metadata":{"name":"a"},"metadata":{"name":1}`,
		"twice, in another way":    `"metadata":{"name":"a"},"Metadata":{"name":"b"}`,
		"twice, in other letters":  `"metadata":{"name":"a"},"m\u0065tadata":{"name":"b"}`,
		"what is beside is wrong":  `"metadata":{"name":"a"},"data":5`,
		"what is before is wrong":  `"immutable":"yes","metadata":{"name":"a"}`,
		"its members beside it":    `"metadata":{"name":"a"},"name":"b","labels":{"a":"b"}`,
	} {
		t.Run(name, func(t *testing.T) {
			data := `{"kind":"ConfigMap","apiVersion":"v1",` + c + `}`
			if !json.Valid([]byte(data)) {
				t.Fatalf("it's no JSON: %s", data)
			}
			like(t, res, data)
		})
	}
}

// TestStoredBroken: nor does it matter where the JSON is broken.
func TestStoredBroken(t *testing.T) {
	res := resources.NewTable(resources.Builtin()...).Lookup("", "v1", "configmaps")
	fields := func(f string) string { return `"metadata":{"managedFields":[{"manager":"a","fieldsV1":` + f + `}]}` }
	for name, c := range map[string]string{
		"a number":            `"metadata":{"generation":01}`,
		"a control character": "\"metadata\":{\"name\":\"a\n\"}",
		"an escape":           fields(`{"f:\q":{}}`),
		"a word":              fields(`{"f:a":nil}`),
		"brackets":            fields(`{"f:a":{]}`),
		"no end":              `"metadata":{"name":"a"`,
		"what is beside":      `"metadata":{"name":"a"},"data":{"a":}`,
		"what is behind":      `"metadata":{"name":"a"}}`,
		"depth":               fields(strings.Repeat(`{"f:a":`, MaxDepth-4) + `{}` + strings.Repeat("}", MaxDepth-4)),
	} {
		t.Run(name, func(t *testing.T) {
			data := `{"kind":"ConfigMap","apiVersion":"v1",` + c + `}`
			if json.Valid([]byte(data)) {
				t.Fatalf("it's JSON: %s", data)
			}
			like(t, res, data)
		})
	}
	like(t, res, `{`+fields(strings.Repeat(`{"f:a":`, MaxDepth-5)+`{}`+strings.Repeat("}", MaxDepth-5))+`}`)
}

// like fails if decodeStored doesn't do with the object what the decoder does that it is built around.
func like(t *testing.T, res *resources.Resource, data string) {
	t.Helper()
	want, err := resources.Scheme().New(res.Stored)
	if err != nil {
		t.Fatal(err)
	}
	refused := kjson.UnmarshalCaseSensitivePreserveInts([]byte(data), want)
	got, err := DecodeStored(res, []byte(data))
	switch {
	case refused != nil:
		if err == nil || err.Error() != refused.Error() {
			t.Errorf("%s: got the error %v, want %v", data, err, refused)
		}
	case err != nil:
		t.Errorf("%s: %v", data, err)
	case !reflect.DeepEqual(got, want):
		t.Errorf(
			"%s:\n got %+v\nwant %+v", data, got.(metav1.ObjectMetaAccessor).GetObjectMeta(),
			want.(metav1.ObjectMetaAccessor).GetObjectMeta(),
		)
	}
}
