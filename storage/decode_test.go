package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// TestDecoderReadsMetadataAndFields runs testdata/decode: "decode key=... [rev=n] [field=a.b|c.d...]" prints the object
// that the JSON below it decodes to. "revise rev=n" prints the last object with the revision n.
func TestDecoderReadsMetadataAndFields(t *testing.T) {
	var last *Object
	var d Decoder
	datadriven.RunTest(t, "testdata/decode", func(t *testing.T, td *datadriven.TestData) string {
		rev := int64(7)
		td.MaybeScanArgs(t, "rev", &rev)
		switch td.Cmd {
		case "decode":
			var key string
			td.ScanArgs(t, "key", &key)
			var paths []FieldPath
			for _, a := range td.CmdArgs {
				if a.Key == "field" {
					paths = append(paths, FieldPath{Paths: strings.Split(a.Vals[0], "|"), Default: "default"})
				}
			}
			d = Decoder{Root: "/registry", Fields: func(string) []FieldPath { return paths }}
			last = d.Decode(Record{Key: key, Value: []byte(td.Input + "\n"), ModRevision: rev})
		case "revise":
			last = d.Revise(last, rev)
		default:
			td.Fatalf(t, "unknown command %s", td.Cmd)
		}
		return show(last)
	})
}

// show prints what is set of an object.
func show(o *Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d\n", o.Revision)
	if o.Err != nil {
		fmt.Fprintf(&b, "error %v\n", o.Err)
	}
	if o.JSON != nil {
		fmt.Fprintf(&b, "%s\n", o.JSON)
	}
	m := o.Meta
	fmt.Fprintf(&b, "%s %s %s/%s uid=%s generation=%d\n", m.APIVersion, m.Kind, m.Namespace, m.Name, m.UID, m.Generation)
	for _, k := range slices.Sorted(maps.Keys(m.Labels)) {
		fmt.Fprintf(&b, "label %q=%q\n", k, m.Labels[k])
	}
	for _, o := range m.Owners {
		fmt.Fprintf(&b, "owner %+v\n", o)
	}
	for _, f := range m.Finalizers {
		fmt.Fprintf(&b, "finalizer %s\n", f)
	}
	if m.Deleting() {
		fmt.Fprintf(&b, "deletion %s\n", m.Deletion.Format(time.RFC3339))
	}
	if m.GracePeriodSeconds != nil {
		fmt.Fprintf(&b, "grace %d\n", *m.GracePeriodSeconds)
	}
	for _, f := range o.Fields {
		fmt.Fprintf(&b, "field %q\n", f)
	}
	return b.String()
}

func TestDecodeProtobuf(t *testing.T) {
	r := Record{Key: "/registry/pods/a/b", Value: []byte("k8s\x00stored"), ModRevision: 3}
	d := Decoder{Root: "/registry"}
	if o := d.Decode(r); !errors.Is(o.Err, ErrCorrupt) || o.Meta.Name != "b" || o.Meta.Namespace != "a" {
		t.Errorf("without Transcode: %+v", o)
	}
	d.Transcode = func(value []byte) ([]byte, error) {
		if string(value) != "k8s\x00stored" {
			t.Errorf("transcoding %q", value)
		}
		return []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}`), nil
	}
	want := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","resourceVersion":"3"}}`
	if o := d.Decode(r); o.Err != nil || string(o.JSON) != want {
		t.Errorf("got %s, %v", o.JSON, o.Err)
	}
	d.Transcode = func([]byte) ([]byte, error) { return nil, errors.New("no such kind") }
	if o := d.Decode(r); !errors.Is(o.Err, ErrCorrupt) || !strings.Contains(o.Err.Error(), "no such kind") {
		t.Errorf("failing Transcode: %v", o.Err)
	}
	d.Transcode = func(v []byte) ([]byte, error) { return v[len(v) : len(v)+1 : 0], nil }
	if o := d.Decode(r); !errors.Is(o.Err, ErrCorrupt) {
		t.Errorf("panicking Transcode: %v", o.Err)
	}
}

func TestMetaOutlivesJSON(t *testing.T) {
	value := []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"uid":"u-1","labels":{"a":"b"}},"spec":{"x":"y"}}`)
	d := Decoder{Root: "/registry", Fields: func(string) []FieldPath { return []FieldPath{{Paths: []string{"spec.x"}}} }}
	o := d.Decode(Record{Key: "/registry/pods/a/b", Value: value, ModRevision: 3})
	before := show(o)
	clear(value)
	if diff := cmp.Diff(before, show(o)); diff != "" {
		t.Errorf("object shares memory with the record (-before +after):\n%s", diff)
	}
}

func TestDepthIsLimitedAsInEncodingJSON(t *testing.T) {
	for _, depth := range []int{jsonscan.MaxDepth - 1, jsonscan.MaxDepth} { // the object itself is one more
		b := []byte(`{"metadata":{},"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}")
		o := new(Decoder).Decode(Record{Value: b, ModRevision: 1})
		if got, want := o.Err == nil, json.Valid(b); got != want {
			t.Errorf("%d deep: accepted %v, encoding/json %v", depth, got, want)
		}
	}
}

// FuzzDecode compares with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		samplePod, `{"apiVersion":"v1","kind":"X","metadata":{"labels":{"a":"b","a":"c"},"name":"n","uid":"u"}}`,
		`{"metadata":{"name":"a\ud83d\ude00\ud800é","labels":{"":null},"finalizers":["x",null],"generation":-3}}`,
		`{"metadata":{"ownerReferences":[null,{"uid":"u","controller":true,"blockOwnerDeletion":null}],"resourceVersion":"9"}} `,
		`{"metadata":{"deletionTimestamp":"2024-01-02T03:04:05Z","deletionGracePeriodSeconds":30},"spec":{"a":{"b":1.5e3}}}`,
		`{"kind":"A","metadata":{"name":"x"},"metadata":{"uid":"y"},"spec":{"a":{"b":true}},"spec":{"c":"d"}}`,
		`{"metadata":{},"spec":null}`, `{"metadata":null}`, `[]`, `{}`, "\"\xff\"", `{"metadata":{"generation":1.0}}`,
	} {
		f.Add([]byte(s))
	}
	paths := []FieldPath{
		{Paths: []string{"spec.a.b", "spec.c"}, Default: "d"}, {Paths: []string{"metadata.uid"}}, {Paths: []string{"kind"}},
	}
	d := Decoder{Root: "/registry", Fields: func(string) []FieldPath { return paths }}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := d.Decode(Record{Key: "/registry/pods/ns/name", Value: b, ModRevision: 42})
		want, ok := reference(bytes.Trim(b, space), paths)
		if ok != (o.Err == nil) {
			t.Fatalf("accepted %v (%v), reference %v", o.Err == nil, o.Err, ok)
		}
		if !ok {
			return
		}
		want.Meta.Namespace, want.Meta.Name = "ns", "name"
		if diff := cmp.Diff(want.Meta, o.Meta); diff != "" {
			t.Errorf("Meta (-reference +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.Fields, o.Fields); diff != "" {
			t.Errorf("Fields (-reference +got):\n%s", diff)
		}
		checkSplice(t, bytes.Trim(b, space), o)
		again, _, err := splice(b, 1<<40)
		if revised := d.Revise(o, 1<<40); err != nil || !bytes.Equal(again, revised.JSON) {
			t.Errorf("revised %s from %s, %v", revised.JSON, o.JSON, err)
		}
		if _, _, err := o.Stored(); err != nil {
			t.Error(err)
		}
	})
}

// checkSplice checks that the JSON of o differs from what was stored only in metadata.resourceVersion.
func checkSplice(t *testing.T, stored []byte, o *Object) {
	spliced, _, err := splice(stored, o.Revision)
	if err != nil || !bytes.Equal(spliced, o.JSON) {
		t.Fatalf("Splice gives %s, %v; Decode %s", spliced, err, o.JSON)
	}
	if !json.Valid(o.JSON) {
		t.Fatalf("invalid JSON %s", o.JSON)
	}
	was, is := generic(stored), generic(o.JSON)
	meta := is["metadata"].(map[string]any)
	if meta["resourceVersion"] != strconv.FormatInt(o.Revision, 10) {
		t.Errorf("resourceVersion is %v in %s", meta["resourceVersion"], o.JSON)
	}
	delete(meta, "resourceVersion")
	delete(was["metadata"].(map[string]any), "resourceVersion")
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("splicing changed more (-stored +spliced):\n%s", diff)
	}
	if !bytes.Contains(stored, []byte("esourceV")) {
		if i := bytes.Index(o.JSON, []byte(`"resourceVersion":"42"`)); i < 0 ||
			len(o.JSON)-len(stored) > len(`"resourceVersion":"42",`) {
			t.Errorf("%s became %s", stored, o.JSON)
		}
		if again, err := unsplice(o.JSON); err != nil || !bytes.Equal(again, stored) {
			t.Errorf("unsplice of %s: %s, %v, want %s", o.JSON, again, err, stored)
		}
	}
}

func generic(b []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// reference decodes with encoding/json; ok is false for what must be rejected.
func reference(b []byte, paths []FieldPath) (o *Object, ok bool) {
	o = &Object{}
	if !json.Valid(b) || len(b) == 0 || b[0] != '{' {
		return o, false
	}
	defer func() {
		if r := recover(); r != nil { // a type assertion
			ok = false
		}
	}()
	top := generic(b)
	meta := top["metadata"].(map[string]any)
	o.Meta = referenceMeta(meta)
	o.Meta.APIVersion, o.Meta.Kind = as[string](top["apiVersion"]), as[string](top["kind"])
	for _, p := range paths {
		o.Fields = append(o.Fields, referenceField(top, p))
	}
	return o, true
}

// as asserts a type; null is its zero value.
func as[T any](v any) (zero T) {
	if v == nil {
		return zero
	}
	return v.(T)
}

func referenceMeta(meta map[string]any) (m Meta) {
	_, _ = as[string](meta["name"]), as[string](meta["namespace"])
	m.UID = as[string](meta["uid"])
	integer := func(v any) int64 {
		n, err := strconv.ParseInt(string(v.(json.Number)), 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	if v := meta["generation"]; v != nil {
		m.Generation = integer(v)
	}
	if v := meta["deletionGracePeriodSeconds"]; v != nil {
		m.GracePeriodSeconds = new(integer(v))
	}
	created, _ := meta["creationTimestamp"].(string)
	m.Created, _ = time.Parse(time.RFC3339, created)
	if v := as[string](meta["deletionTimestamp"]); v != "" {
		d, err := time.Parse(time.RFC3339, v)
		if err != nil {
			panic(err)
		}
		m.Deletion = d.UTC()
	}
	for k, v := range as[map[string]any](meta["labels"]) {
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[k] = as[string](v)
	}
	for _, v := range as[[]any](meta["finalizers"]) {
		m.Finalizers = append(m.Finalizers, as[string](v))
	}
	for _, v := range as[[]any](meta["ownerReferences"]) {
		r := as[map[string]any](v)
		m.Owners = append(m.Owners, Owner{
			APIVersion: as[string](r["apiVersion"]), Kind: as[string](r["kind"]), Name: as[string](r["name"]),
			UID:        as[string](r["uid"]),
			Controller: as[bool](r["controller"]), Block: as[bool](r["blockOwnerDeletion"]),
		})
	}
	return m
}

func referenceField(top map[string]any, p FieldPath) string {
	for _, path := range p.Paths {
		var v any = top
		for part := range strings.SplitSeq(path, ".") {
			m, _ := v.(map[string]any)
			v = m[part]
		}
		switch v := v.(type) {
		case string:
			if v != "" {
				return v
			}
		case json.Number, bool:
			return fmt.Sprint(v)
		}
	}
	return p.Default
}

const samplePod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-6d4b75cb6d-hx2l9","generateName":"web-6d4b75cb6d-","namespace":"default","uid":"4d0a3c5e-9b0f-4a57-8a0e-0f8c2a7a5d11","generation":1,"creationTimestamp":"2024-05-01T10:00:00Z","labels":{"app":"web","pod-template-hash":"6d4b75cb6d"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-6d4b75cb6d","uid":"9f1c0b1e-1111-4222-8333-444455556666","controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2024-05-01T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"9f1c0b1e-1111-4222-8333-444455556666\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}]},"spec":{"volumes":[{"name":"kube-api-access-abcde","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],"containers":[{"name":"web","image":"nginx:1.25","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","nodeName":"node-1","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Running","qosClass":"BestEffort","podIP":"10.1.2.3"}}`
