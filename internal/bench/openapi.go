package main

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// openapi is the cost of the documents at the first request, each in a new process; start has the cost of a process
// without such a request.
func (b *bench) openapi(ctx context.Context) ([]row, error) {
	paths := []string{"/openapi/v3", "/openapi/v3/apis/apps/v1", "/openapi/v2"}
	took, again := make([][]float64, len(paths)), make([][]float64, len(paths))
	var idle, after []float64
	for range b.runs {
		for i, path := range paths {
			p, err := b.run(ctx)
			if err != nil {
				return nil, err
			}
			first, second, grown, err := p.documents(ctx, path)
			if err := errors.Join(err, p.stop()); err != nil {
				return nil, err
			}
			took[i], again[i] = append(took[i], first), append(again[i], second)
			if path == "/openapi/v3/apis/apps/v1" {
				idle, after = append(idle, grown[0]), append(after, grown[1])
			}
		}
	}
	var rows []row
	for i, path := range paths {
		rows = append(rows, rowOf("first "+path, "ms", took[i]), rowOf("second "+path, "ms", again[i]))
	}
	return append(
		rows, rowOf("resident, before /openapi/v3/apis/apps/v1", "MiB", idle), rowOf("resident, after it", "MiB", after),
	), nil
}

// documents requests a document twice, and returns the time of each in milliseconds, and the process' memory in MiB
// before and after.
func (p *process) documents(ctx context.Context, path string) (first, second float64, grown [2]float64, err error) {
	if _, err = p.firstWrite(ctx); err != nil {
		return
	}
	time.Sleep(time.Second) // measure only the document, not the start
	if grown[0], err = p.resident(); err != nil {
		return
	}
	for _, ms := range []*float64{&first, &second} {
		began := time.Now()
		if _, err = do(ctx, http.DefaultClient, http.MethodGet, p.plain+path, nil); err != nil {
			return
		}
		*ms = float64(time.Since(began).Microseconds()) / 1000
	}
	grown[1], err = p.resident()
	return
}
