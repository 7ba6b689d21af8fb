package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// rounds is how often each batch of requests is sent to both servers, alternately.
const rounds = 40

// batch has requests of one kind that are measured together.
type batch struct {
	what string
	// times is how many requests a batch has: enough for some tenths of a second of the server's processor time.
	times int
	// do sends request i of the whole comparison.
	do func(c *side, i int) error
}

// side is one of the two servers, with a client of each protocol.
type side struct {
	p      *process
	target *target
	path   string
	one    *conn
	two    *http.Client
	answer bytes.Buffer
}

// against compares the processor time per request of this binary with that of another one. It sends batches of requests
// to both in turn, so that other load on the machine affects both, and compares the medians of many batches.
func (b *bench) against(ctx context.Context, other string) (err error) {
	var sides [2]*side
	for i, binary := range []string{other, b.binary} {
		s, stop, err := b.newSide(ctx, binary)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		sides[i] = s
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	fmt.Fprintln(w, "processor time of the server\tother µs\tthis µs\tmedians\t95 % of medians\tsums\t")
	for _, k := range batches() {
		if b.only != nil && !slices.Contains(b.only, k.what) {
			continue
		}
		ended := b.profileBoth(ctx, sides, strings.NewReplacer("/", "", ",", "").Replace(k.what))
		took, err := k.measure(ctx, sides)
		if err = errors.Join(err, <-ended); err != nil {
			return fmt.Errorf("%s: %w", k.what, err)
		}
		k.show(w, took)
	}
	return nil
}

// profileBoth takes a profile of each server, if requested. The channel receives the error, or nil.
func (b *bench) profileBoth(ctx context.Context, sides [2]*side, what string) <-chan error {
	ended := make(chan error, 1)
	if b.profile == "" {
		ended <- nil
		return ended
	}
	go func() {
		var errs [2]error
		var both sync.WaitGroup
		for i, name := range []string{"other ", "this "} {
			both.Go(func() { errs[i] = b.takeProfile(ctx, sides[i].p, name+what) })
		}
		both.Wait()
		ended <- errors.Join(errs[:]...)
	}()
	return ended
}

// newSide starts a server with 500 objects.
func (b *bench) newSide(ctx context.Context, binary string) (s *side, stop func() error, err error) {
	var flags []string
	if b.profile != "" {
		flags = []string{"--profiling"}
	}
	p, err := (&bench{binary: binary}).run(ctx, flags...)
	if err != nil {
		return nil, nil, err
	}
	if _, err := p.firstWrite(ctx); err != nil {
		return nil, nil, errors.Join(err, p.stop())
	}
	t, err := p.target()
	if err != nil {
		return nil, nil, errors.Join(err, p.stop())
	}
	t.namespace = "default"
	if err := t.fill(ctx, "configmaps", 500, 1024, func(i int) string {
		return fmt.Sprintf(`"one":"in%d"`, i%100)
	}); err != nil {
		return nil, nil, errors.Join(err, p.stop())
	}
	s = &side{p: p, target: t, path: t.path("configmaps")}
	s.two = &http.Client{Transport: &http.Transport{TLSClientConfig: t.tls, ForceAttemptHTTP2: true}}
	return s, func() error {
		if s.one != nil {
			s.one.close()
		}
		s.two.CloseIdleConnections()
		return p.stop()
	}, nil
}

// dial makes a new connection.
func (s *side) dial(ctx context.Context) (err error) {
	if s.one != nil {
		s.one.close()
	}
	s.one, err = s.target.dial(ctx)
	return err
}

func batchNames() (names []string) {
	for _, k := range batches() {
		names = append(names, k.what)
	}
	return names
}

// batches are the requests that are compared.
func batches() []batch {
	const protobuf = "application/vnd.kubernetes.protobuf"
	name := func(i int) string { return fmt.Sprintf("/%06d", i%500) }
	one := func(method string, path func(i int) string, header, body string) func(*side, int) error {
		return func(s *side, i int) error {
			var data []byte
			if body != "" {
				data = fmt.Appendf(nil, body, i)
			}
			_, err := s.one.do(method, s.path+path(i), header, data)
			return err
		}
	}
	two := func(method string, path func(i int) string, header http.Header, body string) func(*side, int) error {
		return func(s *side, i int) error {
			var data []byte
			if body != "" {
				data = fmt.Appendf(nil, body, i)
			}
			return s.http2(method, path(i), header, data)
		}
	}
	all := func(int) string { return "" }
	some := func(int) string { return "?labelSelector=one%3Din7" }
	made := func(i int) string { return fmt.Sprintf("/one%d", i) }
	made2 := func(i int) string { return fmt.Sprintf("/two%d", i) }
	return []batch{
		{"create", 300, one(http.MethodPost, all, asJSON, `{"metadata":{"name":"one%d"},"data":{"k":"v"}}`)},
		{"merge patch", 300, one(http.MethodPatch, made, asPatch, `{"data":{"k":"w%d"}}`)},
		{"delete", 300, one(http.MethodDelete, made, "", "")},
		{"HTTP/2 create", 300, two(
			http.MethodPost, all, http.Header{"Content-Type": {"application/json"}, "Accept": {protobuf}},
			`{"metadata":{"name":"two%d"},"data":{"k":"v"}}`,
		)},
		{"HTTP/2 update", 300, two(
			http.MethodPut, made2, http.Header{"Content-Type": {"application/json"}, "Accept": {protobuf}},
			`{"metadata":{"name":"two%[1]d"},"data":{"k":"x"}}`,
		)},
		{"HTTP/2 delete", 300, two(http.MethodDelete, made2, http.Header{"Accept": {protobuf}}, "")},
		{"get", 1000, one(http.MethodGet, name, "", "")},
		{"HTTP/2 get", 1000, two(http.MethodGet, name, http.Header{"Accept": {protobuf}}, "")},
		{"list of 500", 60, one(http.MethodGet, all, "", "")},
		{"HTTP/2 list of 500", 60, two(http.MethodGet, all, http.Header{"Accept": {protobuf}}, "")},
		{"list of 500, Table", 10, one(http.MethodGet, all, asTable, "")},
		{"list of 500, metadata only", 60, one(http.MethodGet, all, asMetadata, "")},
		{"list of 5 of 500", 600, one(http.MethodGet, some, "", "")},
	}
}

// http2 sends a request with net/http's client, and reads the response.
func (s *side) http2(method, path string, header http.Header, body []byte) error {
	req, err := http.NewRequest(method, s.p.secure+s.path+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = header
	res, err := s.two.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	s.answer.Reset()
	if _, err = io.Copy(&s.answer, res.Body); err == nil && (res.StatusCode >= 300 || res.ProtoMajor != 2) {
		err = fmt.Errorf("%s %s: %s %s: %s", method, path, res.Proto, res.Status, s.answer.Bytes())
	}
	return err
}

// measure returns the processor time that each round took of each server, in microseconds a request.
func (k batch) measure(ctx context.Context, sides [2]*side) (took [2][]float64, err error) {
	for _, s := range sides { // an idle connection may have been closed
		if err := s.dial(ctx); err != nil {
			return took, err
		}
	}
	for round := -1; round < rounds; round++ { // the first one isn't counted
		for turn := range sides {
			n := (turn + round + 2) % 2 // neither is always the first
			before := exactTime(sides[n].p.cmd.Process.Pid)
			for i := range k.times {
				if err := errors.Join(ctx.Err(), k.do(sides[n], (round+1)*k.times+i)); err != nil {
					return took, err
				}
			}
			if round >= 0 {
				spent := exactTime(sides[n].p.cmd.Process.Pid) - before
				took[n] = append(took[n], float64(spent.Nanoseconds())/1e3/float64(k.times))
			}
		}
	}
	return took, nil
}

func (k batch) show(w io.Writer, took [2][]float64) {
	var ratios []float64
	var sums [2]float64
	for i := range took[0] {
		ratios = append(ratios, took[1][i]/took[0][i])
		sums[0], sums[1] = sums[0]+took[0][i], sums[1]+took[1][i]
	}
	for _, v := range [][]float64{took[0], took[1], ratios} {
		slices.Sort(v)
	}
	mid := len(ratios) / 2
	low, high := interval(len(ratios))
	fmt.Fprintf(
		w, "%s\t%s\t%s\t%+.1f %%\t%+.1f to %+.1f %%\t%+.1f %%\t\n", k.what, figure(took[0][mid]), figure(took[1][mid]),
		100*(ratios[mid]-1), 100*(ratios[low]-1), 100*(ratios[high]-1), 100*(sums[1]/sums[0]-1),
	)
}

// interval returns the indices of two of n sorted values, six or more. The median of the distribution that they are a
// sample of lies between these two in at least 95 % of all samples, whatever the distribution is: as many values are
// below it as there are heads of n coins.
func interval(n int) (low, high int) {
	below := math.Pow(0.5, float64(n)) // the chance of at most low heads
	chance := below
	for low = 0; low < n/2; low++ {
		chance *= float64(n-low) / float64(low+1)
		if below+chance > 0.025 {
			break
		}
		below += chance
	}
	return low, n - 1 - low
}

// exactTime is cpuTime in nanoseconds. It leaves out threads that have ended; Go's seldom do.
func exactTime(pid int) (sum time.Duration) {
	folder := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(folder)
	if err != nil {
		return 0
	}
	for _, t := range threads {
		data, err := os.ReadFile(folder + "/" + t.Name() + "/schedstat")
		if err != nil { // it has ended
			continue
		}
		var n int64
		if _, err := fmt.Sscan(string(data), &n); err == nil {
			sum += time.Duration(n)
		}
	}
	return sum
}
