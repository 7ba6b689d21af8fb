package main

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// openapi is what the documents cost when they are first asked for, each in a process that has made
// none before; start has what a process costs that nobody asks.
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
	return append(rows, rowOf("resident, before /openapi/v3/apis/apps/v1", "MiB", idle), rowOf("resident, after it", "MiB", after)), nil
}

// documents asks for a document twice, and returns how many milliseconds either took, and the
// process' memory in MiB before and after.
func (p *process) documents(ctx context.Context, path string) (first, second float64, grown [2]float64, err error) {
	if _, err = p.firstWrite(ctx); err != nil {
		return
	}
	time.Sleep(time.Second) // what is asked for is the document alone, not the start
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
