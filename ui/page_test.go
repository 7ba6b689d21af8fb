package ui

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// mostBytes is the limit of the page's files together.
const mostBytes = 600_000

// TestPageIsSmallAndAlone: the page is small, its files name no other host, and they have no inline script or style.
func TestPageIsSmallAndAlone(t *testing.T) {
	if all, err := dist.ReadDir("dist"); err != nil || len(all) != len(media) {
		t.Errorf("dist has %d files, the table %d: %v", len(all), len(media), err)
	}
	total := 0
	// Namespaces of XML are only names, and the library only prints the links in its warnings.
	links := regexp.MustCompile(`https?://[^\s"'` + "`" + `<>)]+`)
	inline := regexp.MustCompile(`(?i)<script(\s[^>]*)?>[^<]|<style|\son[a-z]+\s*=|style\s*=|javascript:`)
	for name, f := range files() {
		if name == "" {
			continue
		}
		total += len(f.data)
		for _, link := range links.FindAllString(string(f.data), -1) {
			if !strings.HasPrefix(link, "http://www.w3.org/") && !strings.HasPrefix(link, "https://js.cytoscape.org") {
				t.Errorf("%s names %s", name, link)
			}
		}
		if found := inline.FindString(string(f.data)); found != "" && strings.HasSuffix(name, ".html") {
			t.Errorf("%s has %q", name, found)
		}
		for _, word := range []string{
			"eval(", "new Function(", "document.write", "insertAdjacentHTML", "innerHTML", "outerHTML",
		} {
			if strings.Contains(string(f.data), word) {
				t.Errorf("%s has %s", name, word)
			}
		}
	}
	if total == 0 || total >= mostBytes {
		t.Errorf("the files have %d bytes, the limit is %d", total, mostBytes)
	}
	for _, name := range []string{"index.html", "icon.svg"} { // make ui copies them
		source, err := os.ReadFile("src/" + name)
		if err != nil || string(source) != string(files()[name].data) {
			t.Errorf("dist/%s is not src/%s: make ui; %v", name, name, err)
		}
	}
}

// TestLicensesOfLibrariesAreListed: licenses.txt has the licenses of the libraries in the page.
func TestLicensesOfLibrariesAreListed(t *testing.T) {
	data, err := os.ReadFile("package.json")
	var p struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || len(p.Dependencies) == 0 {
		t.Fatalf("package.json: %v, %v", p.Dependencies, err)
	}
	licenses := string(files()["licenses.txt"].data)
	for name, version := range p.Dependencies {
		_, own, found := strings.Cut(licenses, name+" "+version+"\n")
		if !found || !strings.HasPrefix(strings.TrimSpace(own), "Copyright") {
			t.Errorf("the license of %s %s is missing: make ui", name, version)
		}
	}
	for _, part := range []string{"lodash", "heap", "Engelschall", "Renaudeau", "Koen Bok", "jQuery"} { // in cytoscape
		if !strings.Contains(licenses, part) {
			t.Errorf("the notice of %s is missing", part)
		}
	}
}

// TestFilesAreBelowUI: the files are below /ui/, and the next handler serves all other paths.
func TestFilesAreBelowUI(t *testing.T) {
	h := Page(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, c := range []struct {
		method, path string
		code         int
		media        string
	}{
		{"GET", "/ui/", 200, "text/html; charset=utf-8"},
		{"HEAD", "/ui/app.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/ui/app.css", 200, "text/css; charset=utf-8"},
		{"GET", "/ui/licenses.txt", 200, "text/plain; charset=utf-8"},
		{"GET", "/ui", 307, "text/html; charset=utf-8"},
		{"GET", "/ui/../ui/page.go", 404, "text/plain; charset=utf-8"},
		{"GET", "/ui/dist/app.js", 404, "text/plain; charset=utf-8"},
		{"POST", "/ui/", 405, "text/plain; charset=utf-8"},
		{"GET", "/uix", 418, ""},
		{"GET", "/api", 418, ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, "http://localhost"+c.path, nil))
		if w.Code != c.code || w.Header().Get("Content-Type") != c.media {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Header().Get("Content-Type"))
		}
		below := strings.HasPrefix(c.path, "/ui/")
		policy := w.Header().Get("Content-Security-Policy")
		if below != strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", c.path, policy)
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://localhost/ui/app.js", nil)
	r.Header.Set("If-None-Match", files()["app.js"].id)
	if h.ServeHTTP(w, r); w.Code != http.StatusNotModified {
		t.Errorf("the same file again: %d", w.Code)
	}
}
