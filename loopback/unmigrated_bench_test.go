package loopback_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// BenchmarkUnmigrated lists 10,000 custom resources after their schema has got a default that they are
// stored without.
func BenchmarkUnmigrated(b *testing.B) {
	const n = 10_000
	s := defined(b, nil)
	plain := version(
		"v1", true,
		`"spec":{"type":"object","properties":{"size":{"type":"integer"},"texts":{"type":"array","items":{"type":"string"}}}}`,
		"",
	)
	define(b, s, widgets("widgets", "Widget", plain))
	var clients sync.WaitGroup
	for k := range 8 {
		clients.Go(func() {
			for i := k; i < n; i += 8 {
				body := fmt.Sprintf(
					`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%d"},"spec":{"texts":[%s"z"]}}`, i,
					strings.Repeat(`"some text",`, 20),
				)
				if a, err := s.Try("POST", v1widgets, body); err != nil || a.Code != 201 {
					b.Errorf("%d %s %v", a.Code, a.Body, err)
				}
			}
		})
	}
	clients.Wait()
	d := s.Do("GET", definitions+"/widgets.example.com", nil)
	changed := strings.Replace(string(d.Body), `"size":{`, `"size":{"default":3,`, 1)
	if a := s.Do("PUT", definitions+"/widgets.example.com", changed); a.Code != 200 {
		b.Fatalf("%d %s", a.Code, a.Body)
	}
	for name, accept := range map[string]string{
		"JSON": "application/json", "Table": "application/json;as=Table;v=v1;g=meta.k8s.io",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if a := s.Do("GET", v1widgets, nil, "Accept", accept); a.Code != 200 || len(a.Body) < 100*n {
					b.Fatalf("%d %d", a.Code, len(a.Body))
				}
			}
		})
	}
}
