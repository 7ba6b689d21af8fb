package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

func TestRowsOf(t *testing.T) {
	r := rowsOf("x", []measured{
		{rate: 3, times: times{p50: 3 * time.Millisecond}}, {rate: 1, times: times{p50: time.Millisecond}},
		{rate: 2, times: times{p50: 2 * time.Millisecond, longest: 3 * time.Millisecond}, cpu: time.Microsecond},
	})
	if want := (row{What: "x", Unit: "/s", Min: 1, Mid: 2, Max: 3, Runs: 3, P50: 2, Longest: 3, CPU: 1}); r != want {
		t.Errorf("%+v", r)
	}
}

// TestTimesOf: few durations have no 99th percentile, but a longest one.
func TestTimesOf(t *testing.T) {
	var all []time.Duration
	for i := range leastForP99 {
		all = append(all, time.Duration(i))
	}
	for n, want := range map[int]times{0: {}, 1: {}, 99: {p50: 49, longest: 98}, 100: {p50: 50, p99: 99}} {
		if got := timesOf(all[:n]); got != want {
			t.Errorf("of %d: %+v", n, got)
		}
	}
}

func TestPercentile(t *testing.T) {
	var all []time.Duration
	for i := range 200 {
		all = append(all, time.Duration(i))
	}
	for p, want := range map[int]time.Duration{0: 0, 50: 100, 99: 198, 100: 199} {
		if got := percentile(all, p); got != want {
			t.Errorf("%d: %d", p, got)
		}
	}
	if percentile(nil, 99) != 0 {
		t.Error("of nothing")
	}
}

func TestAge(t *testing.T) {
	if _, ok := age([]byte(`{"type":"ADDED","object":{}}`)); ok {
		t.Error("of an event that says nothing")
	}
	was := time.Now().Add(-time.Hour)
	if got, ok := age(fmt.Appendf(nil, `{"object":{"data":{"at":"%d"}}}`, was.UnixNano())); !ok || got < time.Hour {
		t.Error(got, ok)
	}
}

// TestClient speaks to the plain handler: bodies, streams and failures.
func TestClient(t *testing.T) {
	s := httptest.NewServer(plainRoutes())
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	target := &target{url: u}
	c, err := target.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, n := range []int{0, 1, 100000} {
		if data, err := c.do(http.MethodGet, fmt.Sprintf("/%d", n), "", nil); err != nil || len(data) != n {
			t.Errorf("%d bytes: %d, %v", n, len(data), err)
		}
	}
	if _, err := c.do(http.MethodGet, "/none", "", nil); err == nil {
		t.Error("a failure isn't one")
	}
	frames := 0
	done, err := target.watch(t.Context(), "/100/5000", func(frame []byte) bool {
		frames++
		return frames < 5000 && len(frame) == 100
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || frames != 5000 {
		t.Error(frames, err)
	}
	if m, err := target.drive(t.Context(), 3, 20, func(c *conn, _ int) error {
		_, err := c.do(http.MethodGet, "/10", "", nil)
		return err
	}); err != nil || m.rate <= 0 {
		t.Error(m, err)
	}
}

// TestInterval: the indices are those of tables of the sign test.
func TestInterval(t *testing.T) {
	for n, want := range map[int][2]int{6: {0, 5}, 10: {1, 8}, 20: {5, 14}, 25: {7, 17}, 40: {13, 26}, 100: {39, 60}} {
		if low, high := interval(n); low != want[0] || high != want[1] {
			t.Errorf("of %d: %d and %d, want %v", n, low, high, want)
		}
	}
}
