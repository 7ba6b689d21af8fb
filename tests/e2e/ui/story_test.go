package ui

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/kubecascade/kubecascade/tests/process"
)

// TestBlockedDeletionIsExplained: the details of an object, the deletion of an object that a dependent blocks, and
// earlier states.
func TestBlockedDeletionIsExplained(t *testing.T) {
	s := serve(t)
	deletion(t, s, s.URL)
}

// TestOtherCluster runs the same story through kubecascade ui, for a cluster without the paths of a kubecascade server.
func TestOtherCluster(t *testing.T) {
	s := serve(t)
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/kubecascade") {
			http.NotFound(w, r)
			return
		}
		r.Host = target.Host
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { plain.CloseClientConnections(); plain.Close() })
	page := viewer(t, "--server", plain.URL, "--no-browser")
	deletion(t, s, page)
}

// TestThroughCommand: kubecascade ui of a kubecascade server.
func TestThroughCommand(t *testing.T) {
	s := serve(t)
	page := viewer(t, "--server", s.URL, "--no-browser")
	deletion(t, s, page)
}

func deletion(t *testing.T, s *server, address string) {
	s.create(configMaps, "other", "")
	top := s.create(configMaps, "top", `,"labels":{"app":"web"}`)
	s.create(configMaps, "held", owned("top", top)+`,"finalizers":["example.com/backup"]`)
	s.create(configMaps, "free", owned("top", top))
	p := open(t, address+"/ui/")
	look := ""
	if strings.HasPrefix(t.Name(), "TestOther") {
		p.mayFail()     // there is no trail
		look = "other-" // no revision, and nothing from before the page was opened
	}
	p.until(`window.kubecascade.drawn() === 3`)
	p.choose(top)
	p.says("#details h2", "ConfigMap top")
	p.says("#tab", "dependents")
	p.says("#tab", "held")
	p.says("#managers", "managedFields")
	p.tab("YAML")
	p.says("#tab", "kind: ConfigMap")
	p.tab("Events")
	p.says("#tab", "No events")
	p.tab("Preview and delete")
	p.run(chromedp.SetValue("#policy", "Foreground", chromedp.ByQuery), dispatch("#policy", "change"))
	p.says("#tab", "Would stay, terminating")
	p.until(`!document.querySelector("#delete").disabled`)
	p.looks(look + "preview")
	p.click("#delete")
	p.says("#tab", "Deletion requested")
	p.says("#log", "ConfigMap free removed")
	p.until(`document.querySelector("#status").textContent === "live"`) // and no resources that can't be watched
	p.until(`window.kubecascade.drawn() === 2`)
	p.says("#dying", "ConfigMap held")
	p.tab("Why")
	p.says("#tab", "blocked by 1 dependent")
	p.says("#tab", "example.com/backup")
	p.looks(look + "blocked")

	p.click("#pause")
	p.says("#status", "paused")
	p.until(`(document.querySelector("#back").click(), window.kubecascade.drawn() === 3)`)
	p.says("#moment", ":")
	p.looks(look + "past")
	p.click("#pause")
	p.says("#status", "live")
	s.send("PATCH", configMaps+"/held", `{"metadata":{"finalizers":null}}`)
	p.says("#log", "ConfigMap top removed")
	p.until(`window.kubecascade.drawn() === 0`)
	p.says("#dying", "nothing")
}

// TestObjectsAreFiltered: objects are filtered by namespace, kind and label. Lines of unusual owners are shown.
func TestObjectsAreFiltered(t *testing.T) {
	s := serve(t, "--controllers=-garbage-collector-controller")
	const away = "/api/v1/namespaces/away/configmaps"
	s.create("/api/v1/namespaces", "away", "")
	top := s.create(configMaps, "top", `,"labels":{"app":"web"}`)
	s.create(configMaps, "below", owned("top", top))
	s.create(away, "far", owned("top", top))
	s.create(away, "lost", owned("no", "00000000-0000-4000-8000-000000000000"))
	s.create("/api/v1/namespaces/away/secrets", "paper", owned("no", "00000000-0000-4000-8000-000000000000"))
	p := open(t, s.URL+"/ui/")
	p.until(`window.kubecascade.drawn() === 6`) // with the owner that is missing
	p.until(`window.kubecascade.lines().join() === "blocking,dangling blocking,dangling blocking,namespace blocking"`)
	p.run(chromedp.SetValue("#namespace", "away", chromedp.ByQuery), dispatch("#namespace", "change"))
	p.until(`window.kubecascade.drawn() === 4`)
	p.click("#kind-secrets")
	p.until(`window.kubecascade.drawn() === 2`)
	p.click("#kind-secrets")
	p.run(chromedp.SetValue("#namespace", "", chromedp.ByQuery), dispatch("#namespace", "change"))
	for _, l := range []struct{ label, drawn string }{{"app=web", "1"}, {"app", "1"}, {"app=mail", "0"}} {
		p.run(chromedp.SetValue("#label", l.label, chromedp.ByQuery), dispatch("#label", "input"))
		p.until(`window.kubecascade.drawn() === ` + l.drawn)
	}
	p.says("#note", "No objects match the filters.")
}

// dispatch returns an action that dispatches an event at an element, because SetValue does not cause one.
func dispatch(selector, event string) chromedp.Action {
	return chromedp.Evaluate(`document.querySelector(`+quote(selector)+`).dispatchEvent(new Event(`+quote(event)+`))`, nil)
}

// TestStuckNamespace: the overview begins with a namespace that does not end, and shows the reason.
func TestStuckNamespace(t *testing.T) {
	s := serve(t)
	s.create("/api/v1/namespaces", "stuck", "")
	s.create("/api/v1/namespaces/stuck/configmaps", "held", `,"finalizers":["example.com/backup"]`)
	s.send("DELETE", "/api/v1/namespaces/stuck", "")
	p := open(t, s.URL+"/ui/")
	p.says("#dying", "ConfigMap held")
	p.until(`document.querySelector("#dying").innerText.startsWith("Namespace stuck")`)
	p.says("#problems", "ConfigMap held")
	p.click("#dying button")
	p.says("#details h2", "Namespace stuck")
	p.tab("Why")
	p.says("#tab", "example.com/backup")
	s.send("PATCH", "/api/v1/namespaces/stuck/configmaps/held", `{"metadata":{"finalizers":null}}`)
	p.says("#dying", "nothing")
}

// TestHostileNames: values that clients write into objects are shown unchanged, and never interpreted as markup.
func TestHostileNames(t *testing.T) {
	const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`
	s := serve(t)
	s.send("POST", configMaps+"?fieldManager="+url.QueryEscape(`<b onclick=alert(1)>m</b>`), `{"metadata":{"name":"x",
		"annotations":{"a":`+quote(evil)+`},"ownerReferences":[{"apiVersion":"v1","kind":`+quote(evil)+`,"name":`+quote(evil)+
		`,"uid":`+quote(evil)+`}]}}`)
	uid := s.create(configMaps, "y", owned(evil, "00000000-0000-4000-8000-000000000000"))
	s.send("POST", "/api/v1/namespaces/default/events", `{"metadata":{"name":"e"},"reason":`+quote(evil[:60])+
		`,"message":`+quote(evil)+`,"involvedObject":{"kind":"ConfigMap","namespace":"default","name":"y","uid":`+quote(uid)+`}}`)
	p := open(t, s.URL+"/ui/")
	p.says("#status", "live")
	p.mayFail() // the object is collected in the meantime
	p.key("t")
	p.says("#table", "objects")
	p.says("#log", "ConfigMap")
	p.run(chromedp.SendKeys("#search", evil, chromedp.ByQuery))
	p.says("#table", "0 objects")
	if n := eval[int](p, `document.querySelectorAll("img, script:not([src]), b[onclick], [onerror]").length`); n != 0 {
		t.Errorf("%d elements come from strings", n)
	}
	if eval[bool](p, `"hacked" in window`) {
		t.Error("a script of an object has run")
	}
	// The page itself could not make markup of a string, even if it tried.
	if got := eval[string](p, `(() => { try { document.body.insertAdjacentHTML("beforeend", "<i></i>"); return "done"; }
		catch (e) { return e.name; } })()`); got != "TypeError" {
		t.Errorf("markup from a string: %s", got)
	}
	p.mu.Lock()
	p.errors = nil // that attempt
	p.mu.Unlock()
}

// TestHostileDetails: the same holds for all parts of the details, for an object that is not collected.
func TestHostileDetails(t *testing.T) {
	const evil = `<img src=x onerror="window.hacked=1">`
	s := serve(t, "--controllers=-garbage-collector-controller")
	o := s.send("POST", configMaps+"?fieldManager="+url.QueryEscape(evil), `{"metadata":{"name":"x","annotations":{"a":`+
		quote(evil)+`},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":`+quote(evil)+`,"uid":`+quote(evil)+
		`}]},"data":{"k":`+quote(evil)+`}}`)
	uid := o["metadata"].(map[string]any)["uid"].(string)
	s.send("POST", "/api/v1/namespaces/default/events", `{"metadata":{"name":"e"},"reason":"R","message":`+
		quote(evil)+`,"involvedObject":{"kind":"ConfigMap","namespace":"default","name":"x","uid":`+quote(uid)+`}}`)
	p := open(t, s.URL+"/ui/")
	p.until(`window.kubecascade.drawn() === 2`)
	p.choose(uid)
	p.says("#tab", evil)
	p.says("#managers", evil)
	p.says("#problems", evil)
	s.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", "a\u202eb", "")
	p.says("#log", `a\u202eb`)
	p.tab("Events")
	p.says("#tab", evil)
	p.tab("YAML")
	p.says("#tab", `onerror`)
	p.tab("Why")
	p.says("#tab", "ConfigMap x")
	p.tab("Preview and delete")
	p.says("#tab", "In all")
	p.key("t")
	p.says("#table", evil)
	p.looks("table")
	if eval[bool](p, `"hacked" in window || document.querySelector("img") !== null`) {
		t.Error("a string became markup")
	}
}

// TestManyObjects: 5,000 objects are grouped, and the page still responds quickly.
func TestManyObjects(t *testing.T) {
	s := serve(t, "--controllers=-garbage-collector-controller")
	const tops, each = 50, 99
	for i := range tops {
		name := fmt.Sprintf("top-%d", i)
		uid := s.create(configMaps, name, "")
		for j := range each {
			s.create(configMaps, fmt.Sprintf("%s-%d", name, j), owned(name, uid))
		}
	}
	p := open(t, s.URL+"/ui/")
	p.says("#status", "live")
	p.says("#note", "5000 objects, grouped by owner and kind")
	p.until(`window.kubecascade.drawn() === 2`)
	p.looks("many")
	p.run(chromedp.SendKeys("#search", "top-7", chromedp.ByQuery))
	p.until(fmt.Sprintf(`window.kubecascade.drawn() === %d`, each+1))
	p.run(chromedp.Evaluate(`document.activeElement.blur()`, nil))
	p.key("t")
	p.says("#table", "100 objects")
	p.click("#view-graph")
	p.until(`!document.querySelector("#canvas").hidden`)
}

// TestLongChainIsShown: a chain of 3,000 owners is shown.
func TestLongChainIsShown(t *testing.T) {
	s := serve(t)
	uid := s.create(configMaps, "c-0", "")
	for i := range 3000 {
		uid = s.create(configMaps, fmt.Sprintf("c-%d", i+1), owned(fmt.Sprintf("c-%d", i), uid))
	}
	p := open(t, s.URL+"/ui/")
	p.says("#note", "3001 objects, grouped by owner and kind")
	p.until(`window.kubecascade.drawn() > 5 && window.kubecascade.drawn() < 20`)
	p.run(chromedp.SendKeys("#search", "c-3000", chromedp.ByQuery))
	p.until(`window.kubecascade.drawn() === 21`) // with the owners next to it
	p.choose(uid)
	p.says("#details h2", "c-3000")
}

// TestManyNamespaces: groups span all namespaces if there would be too many groups to draw.
func TestManyNamespaces(t *testing.T) {
	s := serve(t)
	for i := range 1100 {
		s.create("/api/v1/namespaces", fmt.Sprintf("n-%d", i), "")
	}
	p := open(t, s.URL+"/ui/")
	p.says("#status", "live")
	p.click("#alone") // each namespace has a ServiceAccount and a ConfigMap
	p.says("#note", "grouped by owner and kind")
	p.until(`window.kubecascade.drawn() > 2 && window.kubecascade.drawn() < 100`)
	p.run(chromedp.SetValue("#namespace", "n-7", chromedp.ByQuery), dispatch("#namespace", "change"))
	p.until(`window.kubecascade.drawn() === 3`)
}

// TestPageContinuesAfterARestart: the page reports that it is stale, and continues when the server is back.
func TestPageContinuesAfterARestart(t *testing.T) {
	s := serve(t)
	s.example()
	p := open(t, s.URL+"/ui/")
	p.until(`window.kubecascade.drawn() === 4`)
	p.mayFail()
	s.again(func() {
		p.says("#status", "stale")
		p.until(`window.kubecascade.drawn() === 4`)
	})
	top := s.create(configMaps, "top", "")
	s.create(configMaps, "below", owned("top", top))
	p.says("#status", "live")
	p.until(`window.kubecascade.drawn() === 6`)
}

// TestPageNeedsNoMouse: the page can be used without a mouse, has names for its parts, and enough contrast.
func TestPageNeedsNoMouse(t *testing.T) {
	s := serve(t)
	s.example()
	p := open(t, s.URL+"/ui/")
	p.until(`window.kubecascade.drawn() === 4`)
	p.key("/")
	if id := eval[string](p, `document.activeElement.id`); id != "search" {
		t.Errorf("/ focuses %q", id)
	}
	p.run(chromedp.Evaluate(`document.activeElement.value = ""`, nil)) // chromedp types the / itself, too
	p.key("my-repset")
	p.run(chromedp.Evaluate(`document.activeElement.blur()`, nil))
	p.key("t")
	p.says("#table", "4 objects")
	p.run(chromedp.Evaluate(`document.querySelector("#table button").focus()`, nil))
	p.key("\r")
	p.says("#details h2", "my-repset")
	if n := eval[int](p, `[...document.querySelectorAll("button, input, select")].filter((e) =>
		!(e.innerText || e.getAttribute("aria-label") || e.labels?.length)).length`); n != 0 {
		t.Errorf("%d controls have no name", n)
	}
	for _, theme := range []string{"light", "dark"} {
		p.run(chromedp.Evaluate(`document.documentElement.dataset.theme = "`+theme+`"`, nil))
		if low := eval[[]string](p, contrast); len(low) > 0 {
			t.Errorf("%s: too little contrast:\n%s", theme, strings.Join(low, "\n"))
		}
	}
	// The focused element keeps the focus when the page changes.
	p.run(chromedp.Evaluate(`window.held = document.querySelector("#log button").dataset.uid;
		document.querySelector("#log button").focus()`, nil))
	s.create(configMaps, "another", "")
	p.says("#log", "ConfigMap another")
	if !eval[bool](p, `document.querySelector("#log").contains(document.activeElement) &&
		document.activeElement.dataset.uid === window.held`) {
		t.Error("a change takes the focus away")
	}
	p.run(chromedp.KeyEvent("\x1b"))
	p.until(`document.querySelector("#details").hidden`)
}

// contrast lists the elements whose text has a contrast below 4.5:1 (WCAG 2.2, 1.4.3).
const contrast = `(() => {
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => {
		const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
		return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
	const back = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
		if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
	const low = [];
	for (const e of document.querySelectorAll("body *")) {
		if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || e.disabled) continue;
		const a = light(parse(getComputedStyle(e).color)), b = light(back(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) low.push(ratio.toFixed(2) + " " + e.tagName + " " + e.className + " " + e.innerText.slice(0, 40));
	}
	return low;
})()`

// TestReadOnlyPageDeletesNothing: kubecascade ui --read-only shows the preview, and a deletion is rejected with a
// message.
func TestReadOnlyPageDeletesNothing(t *testing.T) {
	s := serve(t)
	uid := s.example()
	page := viewer(t, "--server", s.URL, "--no-browser", "--read-only")
	p := open(t, page+"/ui/")
	p.mayFail()
	p.until(`window.kubecascade.drawn() === 4`)
	p.choose(uid)
	p.tab("Preview and delete")
	p.until(`!document.querySelector("#delete").disabled`)
	p.click("#delete")
	p.says("#tab", "does not pass this request on")
}

// TestWrongFlagIsNamed: the error for a wrong flag has exit code 2 and names the flag.
func TestWrongFlagIsNamed(t *testing.T) {
	for _, arguments := range [][]string{
		{"ui", "--server", "http://127.0.0.1:1", "--address", "0.0.0.0:0"}, {"ui", "--address", "nonsense"},
	} {
		c := exec.Command(process.Binary, arguments...)
		var out bytes.Buffer
		c.Stderr = &out
		if err := c.Run(); c.ProcessState.ExitCode() != 2 || !strings.Contains(out.String(), "--address") {
			t.Errorf("%v: %v %s", arguments, err, &out)
		}
	}
}
