package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// How many CRDs are installed, how many properties their schemas have (8 KB of JSON), and by how many clients.
const (
	definitions       = 200
	properties        = 50
	definitionClients = 16
)

// install is how long it takes until so many CRDs are established, and how much memory each of them takes at rest.
func (b *bench) install(ctx context.Context) ([]row, error) {
	var took, memory []float64
	for range b.runs {
		err := b.serving(ctx, func(p *process, c *http.Client) error {
			before, err := atRest(ctx, p.cmd.Process.Pid)
			if err != nil {
				return err
			}
			t, err := installed(ctx, p, c)
			if err != nil {
				return err
			}
			took = append(took, t.Seconds())
			after, err := atRest(ctx, p.cmd.Process.Pid)
			memory = append(memory, (after-before)*1024/definitions)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return []row{
		rowOf(fmt.Sprintf("install %d CRDs", definitions), "s", took),
		rowOf("resident, idle, per CRD", "KiB", memory),
	}, nil
}

// installed creates the CRDs and waits until the last is established.
func installed(ctx context.Context, p *process, c *http.Client) (time.Duration, error) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.secure+path+"?watch=1", nil)
	if err != nil {
		return 0, err
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() {
		err := established(json.NewDecoder(res.Body))
		done <- errors.Join(err, res.Body.Close())
	}()
	schema := schemaOf(properties)
	began := time.Now()
	if _, err := inParallel(definitionClients, definitions, func(i int) error {
		_, err := do(ctx, c, http.MethodPost, p.secure+path, fmt.Appendf(nil,
			`{"metadata":{"name":"things%d.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things%d","kind":"Thing%d"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}`,
			i, i, i, schema))
		return err
	}); err != nil {
		return 0, err
	}
	err = <-done
	return time.Since(began), err
}

// established reads a watch until all CRDs are established.
func established(d *json.Decoder) error {
	ready := map[string]bool{}
	for len(ready) < definitions {
		var e struct {
			Object struct {
				Metadata struct{ Name string }
				Status   struct {
					Conditions []struct{ Type, Status string }
				}
			}
		}
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("watching CRDs: %w", err)
		}
		for _, c := range e.Object.Status.Conditions {
			if c.Type == "Established" && c.Status == "True" {
				ready[e.Object.Metadata.Name] = true
			}
		}
	}
	return nil
}

// schemaOf is a schema with nested properties, descriptions, bounds and a rule.
func schemaOf(n int) string {
	var b strings.Builder
	b.WriteString(
		`{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self.p0 >= 0"}],"properties":{"p0":{"type":"integer","default":0}`,
	)
	for i := range n {
		fmt.Fprintf(
			&b,
			`,"p%d":{"type":"object","description":"What this is for is said here at a length that is usual.","properties":{"name":{"type":"string","maxLength":63},"n":{"type":"integer"}}}`,
			i+1,
		)
	}
	b.WriteString(`}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`)
	return b.String()
}
