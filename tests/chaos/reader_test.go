package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// reader sends random reads until ctx ends.
func (w *world) reader(ctx context.Context, r *rand.Rand, pace time.Duration) {
	for ctx.Err() == nil {
		id, base, ok := w.pick(ctx, r)
		if !ok {
			return
		}
		prefix := prefixes()[r.IntN(len(prefixes()))]
		q := url.Values{}
		switch n := r.IntN(100); {
		case n < 35:
			w.get(ctx, id, base, anyKey(r), check.Default, 0)
		case n < 45:
			w.get(ctx, id, base, anyKey(r), check.Cached, 0)
		case n < 50:
			w.get(ctx, id, base, anyKey(r), check.AtLeast, w.newest())
		case n < 55:
			q.Set("resourceVersion", fmt.Sprint(w.newest()))
			w.list(ctx, id, base, prefix, check.AtLeast, q)
		case n < 75:
			w.list(ctx, id, base, prefix, check.Default, q)
		case n < 80:
			q.Set("limit", "10")
			w.list(ctx, id, base, prefix, check.Default, q)
		case n < 90:
			q.Set("resourceVersion", "0")
			w.list(ctx, id, base, prefix, check.Cached, q)
		default:
			q.Set("resourceVersion", fmt.Sprint(max(1, w.newest()-r.Int64N(50))))
			q.Set("resourceVersionMatch", "Exact")
			w.list(ctx, id, base, prefix, check.Exact, q)
		}
		pause(ctx, time.Duration(r.Int64N(int64(2*pace))))
	}
}

// newest returns the newest recorded revision.
func (w *world) newest() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(1, w.recorded)
}

// get reads one object and records the response. requested is the revision in the request.
func (w *world) get(ctx context.Context, id, base, key string, mode check.Mode, requested int64) (code int) {
	read := &check.Read{Server: id, Mode: mode, Key: key, Asked: requested}
	target := at(base, key)
	if mode != check.Default {
		target += fmt.Sprintf("?resourceVersion=%d", requested)
	}
	read.Begin = w.now()
	code, data, err := w.send(ctx, http.MethodGet, target, "", nil)
	read.End = w.now()
	w.answered("get", code)
	var o object
	switch {
	case err != nil || code != http.StatusOK && code != http.StatusNotFound:
		return code
	case code == http.StatusOK:
		if err := json.Unmarshal(data, &o); err != nil {
			w.t.Errorf("%s: %v", target, err)
			return code
		}
		read.Versions = []check.Version{o.version(strings.Split(key, "/")[0])}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.h.Reads = append(w.h.Reads, read)
	return code
}

// list reads a collection and records the response. It returns nil if there is no response.
func (w *world) list(ctx context.Context, id, base, prefix string, mode check.Mode, q url.Values) *check.Read {
	read := w.pages(ctx, id, base, prefix, mode, q)
	if read == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.h.Reads = append(w.h.Reads, read)
	if mode == check.Default && !read.Gone {
		w.known.see(prefix, read.Versions)
	}
	return read
}

// pages reads a collection, page by page if q has a limit.
func (w *world) pages(ctx context.Context, id, base, prefix string, mode check.Mode, q url.Values) *check.Read {
	read := &check.Read{Server: id, Mode: mode, Prefix: prefix, Asked: revision(q.Get("resourceVersion"))}
	read.Begin = w.now()
	for {
		code, data, err := w.send(ctx, http.MethodGet, at(base, prefix)+"?"+q.Encode(), "", nil)
		w.answered("list", code)
		if code == http.StatusGone && q.Get("continue") == "" {
			read.Gone = true
			break
		}
		if err != nil || code != http.StatusOK { // pages may expire while they are read
			return nil
		}
		var page struct {
			Metadata metadata `json:"metadata"`
			Items    []object `json:"items"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			w.t.Errorf("listing %s: %v", prefix, err)
			return nil
		}
		if rev := revision(page.Metadata.ResourceVersion); read.Revision == 0 {
			read.Revision = rev
			read.End = w.now() // a later page is of the same revision
		} else if rev != read.Revision {
			w.t.Errorf("pages of %s are of the revisions %d and %d", prefix, read.Revision, rev)
		}
		for i := range page.Items {
			read.Versions = append(read.Versions, page.Items[i].version(strings.Split(prefix, "/")[0]))
		}
		if page.Metadata.Continue == "" {
			break
		}
		q.Set("continue", page.Metadata.Continue)
	}
	if read.Gone {
		read.End = w.now()
	}
	return read
}
