package apiserver_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	apix "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

func TestZZ(t *testing.T) {
	s := apiservertest.Start(t, nil)
	// find field number of `not`
	m := apix.JSONSchemaProps{Not: &apix.JSONSchemaProps{}}
	raw, _ := m.Marshal()
	num := protowire.Number(0)
	for b := raw; len(b) > 0; {
		n, typ, l := protowire.ConsumeTag(b)
		b = b[l:]
		v := protowire.ConsumeFieldValue(n, typ, b)
		if typ == protowire.BytesType { bb, _ := protowire.ConsumeBytes(b); if len(bb) > 20 { num = n } }
		b = b[v:]
	}
	fmt.Println("not =", num)
	// build from inside out, in reverse
	var rev []byte
	size := 0
	for size < 2900000 {
		var head []byte
		head = protowire.AppendTag(head, num, protowire.BytesType)
		head = protowire.AppendVarint(head, uint64(size))
		for i := len(head) - 1; i >= 0; i-- { rev = append(rev, head[i]) }
		size += len(head)
	}
	schema := make([]byte, len(rev))
	for i := range rev { schema[len(rev)-1-i] = rev[i] }
	wrap := func(n protowire.Number, b []byte) []byte { return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b) }
	val := wrap(1, schema) // CustomResourceValidation.openAPIV3Schema
	ver := append(wrap(1, []byte("v1")), wrap(4, val)...)
	spec := wrap(7, ver)
	crd := wrap(2, spec)
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, Raw: crd}
	ub, _ := u.Marshal()
	start := time.Now()
	a, err := s.Try("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", append([]byte("k8s\x00"), ub...), "Content-Type", "application/vnd.kubernetes.protobuf")
	b := a.Body
	if len(b) > 300 { b = b[:300] }
	fmt.Println(len(ub), a.Code, err, string(b), time.Since(start))
	_ = bytes.NewReader
}
