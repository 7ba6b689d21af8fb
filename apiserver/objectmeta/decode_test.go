package objectmeta

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestStored: what json.Marshal writes is accepted, whatever the metadata has.
func TestStored(t *testing.T) {
	r := rand.New(rand.NewSource(int64(seed.Of(t))))
	for range 5000 {
		m := random(r)
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if !compare(t, data) {
			t.Fatalf("it isn't accepted: %s", data)
		}
	}
}

// TestOdd: what else stands there is left to others, and nothing is changed.
func TestOdd(t *testing.T) {
	for name, data := range map[string]string{
		"null":                     `null`,
		"null as a value":          `{"name":null}`,
		"an old server's time":     `{"name":"a","creationTimestamp":null}`,
		"another order":            `{"namespace":"b","name":"a"}`,
		"twice":                    `{"name":"a","name":"b"}`,
		"unknown":                  `{"name":"a","clusterName":"b"}`,
		"another case":             `{"Name":"a"}`,
		"an escaped member":        `{"n\u0061me":"a"}`,
		"a number for a string":    `{"name":1}`,
		"a string for a number":    `{"generation":"1"}`,
		"a fraction":               `{"generation":1.0}`,
		"an exponent":              `{"generation":1e2}`,
		"too large":                `{"generation":9223372036854775808}`,
		"no time":                  `{"creationTimestamp":"yesterday"}`,
		"an array for an object":   `{"labels":[]}`,
		"an object for an array":   `{"finalizers":{}}`,
		"a label without a string": `{"labels":{"a":1}}`,
		"null among owners":        `{"ownerReferences":[null]}`,
		"no boolean":               `{"ownerReferences":[{"apiVersion":"v1","kind":"a","name":"b","uid":"c","controller":"true"}]}`,
		"no fields":                `{"managedFields":[{"manager":"a","fieldsV1":null}]}`,
		"fields of another form":   `{"managedFields":[{"manager":"a","fieldsV1":"f:data"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if !json.Valid([]byte(data)) {
				t.Fatal("it's no JSON")
			}
			m := metav1.ObjectMeta{Name: "before"}
			if Decode([]byte(data), &m) || !reflect.DeepEqual(m, metav1.ObjectMeta{Name: "before"}) {
				t.Errorf("it was read: %+v", m)
			}
		})
	}
}

// TestSpace: white space changes nothing.
func TestSpace(t *testing.T) {
	for _, data := range []string{
		`{ "name":"a"}`, `{"name":"a"} `, `{"name": "a"}`, " {\n\t\"finalizers\" : [ \"a\" , \"b\" ]\r\n} ",
	} {
		if !compare(t, []byte(data)) {
			t.Errorf("it isn't accepted: %s", data)
		}
	}
}

// TestApart: what was read doesn't change with the bytes that it was read from.
func TestApart(t *testing.T) {
	r := rand.New(rand.NewSource(int64(seed.Of(t))))
	for range 100 {
		data, err := json.Marshal(random(r))
		if err != nil {
			t.Fatal(err)
		}
		var got, want metav1.ObjectMeta
		if err := json.Unmarshal(data, &want); err != nil || !Decode(data, &got) {
			t.Fatal("it can't be read", err)
		}
		for i := range data {
			data[i] = 'x'
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

// TestValues: every member may have any value, wherever members of that name may stand.
func TestValues(t *testing.T) {
	names := strings.Fields(`name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp
		deletionGracePeriodSeconds labels annotations ownerReferences finalizers managedFields apiVersion kind controller
		blockOwnerDeletion manager operation time fieldsType fieldsV1 subresource`)
	values := []string{
		`null`, `true`, `false`, `0`, `-0`, `-1`, `1.0`, `1e3`, `9223372036854775807`, `-9223372036854775808`,
		`-9223372036854775809`,
		`"2024-05-01T10:00:00Z"`, `"2024-05-01t10:00:00z"`, `"2024-05-01T10:00:00+24:00"`, `"2024-05-01T10:00:00-23:59"`,
		`"2024-05-01T10:00:60Z"`,
		`"2024-05-01T10:00:00.9999999999Z"`, `"2024-05-01T10:00:00,5Z"`, `"2024-05-01T1:00:00Z"`,
		`"2024\u002d05-01T10:00:00Z"`,
		`"0001-01-01T00:00:00Z"`, `"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59-23:00"`, `"10000-01-01T00:00:00Z"`,
		`""`, `"null"`, `"v1"`, `"\u0076\u0031"`, `"\/\b\f\n\r\t\\\""`, `"\\"`, `"\ud800"`, `"\ud83d\ude00"`,
		`"\udc00\ud800x"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\x7f\u2028\"",
		`[]`, `["a"]`, `["a","b"]`, `["a",null]`, `["a", "b"]`, `[[]]`, `[{}]`, `[{},{}]`, `[null]`,
		`{}`, `{"":""}`, `{"a":null}`, `{"a":"b","c":"d"}`, `{"a":"b","a":"c"}`, `{"a":"b","\u0061":"c"}`,
		"{\"\xff\":\"a\",\"\xfe\":\"b\"}",
		`{"a":"}"}`, `{"a":"\"}"}`, `{"a":"\\"}`, `{"a":[{"b":"]"},-1e2, true]}`, "{\"\xff\":{\"\\ud800\":{}}}",
	}
	accepted := 0
	for _, name := range names {
		for _, value := range values {
			for _, around := range []string{
				`{%}`, `{"name":"a",%}`, `{"ownerReferences":[{%}]}`, `{"managedFields":[{%},{"manager":"a"}]}`,
			} {
				data := []byte(strings.Replace(around, "%", `"`+name+`":`+value, 1))
				if !json.Valid(data) {
					t.Fatalf("it's no JSON: %s", data)
				}
				if compare(t, data) {
					accepted++
				}
			}
		}
	}
	if accepted < 500 {
		t.Errorf("%d were accepted", accepted)
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewSource(3))
	for range 20 {
		data, err := json.Marshal(random(r))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		`{"labels":{},"annotations":{"a":"b","a":"c"},"ownerReferences":[],"finalizers":[],"managedFields":[]}`,
		`{"name":"\ud800\u0041\"","uid":"` + "\xff" + `","generation":-0}`,
		`{"creationTimestamp":"2024-02-30T23:59:60.5+01:00"}`,
		`{"managedFields":[{"fieldsV1":{"f:a":{"k:{\"}\":[1,-2e3,null]}": {}}},"subresource":""}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if json.Valid(data) {
			compare(t, data)
		}
	})
}

// compare reports whether data is accepted, and fails if it is read in another way than by the decoders of requests
// and of what is stored.
func compare(t *testing.T, data []byte) bool {
	t.Helper()
	var got, want, strict metav1.ObjectMeta
	if !Decode(data, &got) {
		return false
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatalf("encoding/json rejects it: %v: %s", err, data)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &strict); err != nil {
		t.Fatalf("sigs.k8s.io/json rejects it: %v: %s", err, data)
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(got, strict) {
		t.Fatalf("%s\nis read as %+v\n    want %+v\n     and %+v", data, got, want, strict)
	}
	return true
}

// random has each member or not.
func random(r *rand.Rand) (m metav1.ObjectMeta) {
	some := func() bool { return r.Intn(3) > 0 }
	text := func() string {
		all := []string{
			"", "a", "v1", "Update", "Apply", "FieldsV1", "FieldsV2", "kube-controller-manager", `"quoted" \ and / <b> &`,
			"\u2028\x00\x7f", "éü\U0001F600", strings.Repeat("long ", 50),
		}
		return all[r.Intn(len(all))]
	}
	moment := func() metav1.Time { return metav1.Unix(r.Int63n(4e9), 0) }
	if some() {
		m.Name, m.GenerateName, m.SelfLink, m.ResourceVersion = text(), text(), text(), text()
	}
	if some() {
		m.Namespace, m.UID, m.Generation = text(), types.UID(text()), r.Int63()-r.Int63()
	}
	if some() {
		m.CreationTimestamp = moment()
	}
	if some() {
		t, n := moment(), r.Int63()-r.Int63()
		m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &t, &n
	}
	for range r.Intn(4) {
		if m.Labels == nil {
			m.Labels, m.Annotations = map[string]string{}, map[string]string{}
		}
		m.Labels[text()], m.Annotations[text()] = text(), text()
	}
	for range r.Intn(3) {
		o := metav1.OwnerReference{APIVersion: text(), Kind: text(), Name: text(), UID: types.UID(text())}
		if some() {
			o.Controller, o.BlockOwnerDeletion = new(bool), new(bool)
			*o.Controller = some()
		}
		m.OwnerReferences = append(m.OwnerReferences, o)
		m.Finalizers = append(m.Finalizers, text())
	}
	for range r.Intn(3) {
		e := metav1.ManagedFieldsEntry{
			Manager: text(), Operation: metav1.ManagedFieldsOperationType(text()), APIVersion: text(), FieldsType: text(),
			Subresource: text(),
		}
		if some() {
			t := metav1.Time{Time: time.Unix(r.Int63n(4e9), 0)}
			e.Time = &t
		}
		if some() {
			fields, err := json.Marshal(
				map[string]any{"f:" + text(): map[string]any{`k:{"name":"}"}`: map[string]any{".": []any{1, text(), nil, true}}}},
			)
			if err != nil {
				panic(err)
			}
			e.FieldsV1 = &metav1.FieldsV1{}
			e.FieldsV1.SetRawBytes(fields)
		}
		m.ManagedFields = append(m.ManagedFields, e)
	}
	return m
}

var stored = []byte(`{"name":"c32-1234","namespace":"default","uid":"9a1c2a94-3c5f-4f0e-8f55-6a2b0f6f4a4e","resourceVersion":"4711","creationTimestamp":"2026-11-21T23:25:17Z",` +
	`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"d9607e19-f88f-11e6-a518-42010a800195","blockOwnerDeletion":true}],` +
	`"managedFields":[{"manager":"Go-http-client","operation":"Update","apiVersion":"v1","time":"2026-11-21T23:25:17Z","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:data":{".":{},"f:k":{}},"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"d9607e19-f88f-11e6-a518-42010a800195\"}":{}}}}}]}`)

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	var m metav1.ObjectMeta
	for b.Loop() {
		if !Decode(stored, &m) {
			b.Fatal("it isn't accepted")
		}
	}
}

// BenchmarkJSON is what it replaces.
func BenchmarkJSON(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var m metav1.ObjectMeta
		if err := json.Unmarshal(stored, &m); err != nil {
			b.Fatal(err)
		}
	}
}
