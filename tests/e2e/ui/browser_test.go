package ui

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is the maximum time to wait for an expected state.
const patience = 60 * time.Second

type page struct {
	t   testing.TB
	ctx context.Context

	mu sync.Mutex
	// errors are the errors in the console, and requests for other hosts. lost reports whether requests may fail.
	errors []string
	lost   bool
	// token must not be in any URL.
	token string
}

// open opens a URL in a new browser, which ends with the test. A test fails if the console has errors, or if a request
// goes to another host.
func open(t testing.TB, address string) *page {
	t.Helper()
	return openPage(t, address, &page{t: t})
}

// openSecure opens a URL of the secure port. Requests may fail: the first one has no token.
func openSecure(t testing.TB, address string) *page {
	t.Helper()
	return openPage(t, address, &page{t: t, lost: true}, chromedp.IgnoreCertErrors)
}

func openPage(t testing.TB, address string, p *page, more ...chromedp.ExecAllocatorOption) *page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(cmp.Or(os.Getenv("CHROMIUM"), "chromium")), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1400, 850), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-US"))
	options = append(options, more...)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(format string, a ...any) {
		if !strings.HasPrefix(format, "unhandled node event") { // of a newer browser, such as for a dialog
			fmt.Fprintf(os.Stderr, format+"\n", a...)
		}
	}))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	p.ctx = ctx
	own, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			p.note("exception: " + e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				p.note("log: " + e.Entry.Text + " " + e.Entry.URL)
			}
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				p.note("console: " + string(e.Args[0].Value))
			}
		case *network.EventRequestWillBeSent:
			u, err := url.Parse(e.Request.URL)
			if err != nil || u.Host != own.Host && u.Scheme != "data" {
				p.note("request for " + e.Request.URL)
			}
			if p.token != "" && strings.Contains(e.Request.URL, p.token) {
				p.note("a URL has the token")
			}
		}
	})
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, e := range p.errors {
			t.Error(e)
		}
	})
	p.run(network.Enable(), log.Enable(), chromedp.Navigate(address))
	return p
}

func (p *page) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.lost || !strings.HasPrefix(what, "log: Failed to load resource") {
		p.errors = append(p.errors, what)
	}
}

// mayFail allows requests to fail from now on.
func (p *page) mayFail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = true
}

func (p *page) run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func eval[T any](p *page, expression string) (value T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &value))
	return value
}

// until waits until an expression is true in the page.
func (p *page) until(expression string) {
	p.t.Helper()
	err := chromedp.Run(p.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(patience),
		chromedp.WithPollingInterval(50*time.Millisecond)))
	if err != nil {
		p.shoot("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
		p.t.Fatalf("%s: %v; the page has\n%s", expression, err, eval[string](p, "document.body.innerText"))
	}
}

// says waits until the element has the text.
func (p *page) says(selector, text string) {
	p.t.Helper()
	p.until(`(document.querySelector(` + quote(selector) + `)?.innerText ?? "").includes(` + quote(text) + `)`)
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(selector, chromedp.ByQuery))
}

// choose clicks on the node of the object with the uid.
func (p *page) choose(uid string) {
	p.t.Helper()
	p.until(`window.kubecascade.place(` + quote(uid) + `) !== undefined`)
	at := eval[struct{ X, Y float64 }](p, `(() => { const b = document.querySelector("#canvas").getBoundingClientRect(),
		n = window.kubecascade.place(`+quote(uid)+`); return {x: b.left + n.x, y: b.top + n.y}; })()`)
	p.run(chromedp.MouseClickXY(at.X, at.Y))
}

// tab opens a tab of the details.
func (p *page) tab(name string) {
	p.t.Helper()
	p.run(chromedp.Click(`//button[@role="tab"][text()="`+name+`"]`, chromedp.BySearch))
}

// key presses keys, independent of the focus.
func (p *page) key(keys string) {
	p.t.Helper()
	p.run(chromedp.KeyEvent(keys))
}
