package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

// Path is where the page is. It ends with a slash, so that the page's files are below it.
const Path = "/ui/"

//go:embed dist/index.html dist/app.js dist/app.css dist/icon.svg dist/licenses.txt
var dist embed.FS

// policy is the Content-Security-Policy of the page: its own files only, requests to its own server only, and no
// strings that become markup or script. The library that draws the graph needs none of that either.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Protect sets the headers that restrict what a browser does with a response of this page's server.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// file is a file of the page, with its entity tag.
type file struct {
	data      []byte
	media, id string
}

// media are the types of the files, by their extension.
var media = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// files are the page's files by their names below Path.
func files() map[string]file {
	all := map[string]file{}
	entries, err := dist.ReadDir("dist")
	if err != nil {
		panic(err) // it is in the program
	}
	for _, e := range entries {
		data, err := dist.ReadFile("dist/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		all[e.Name()] = file{data, media[path.Ext(e.Name())], `"` + hex.EncodeToString(sum[:12]) + `"`}
	}
	all[""] = all["index.html"]
	return all
}

// Page wraps a handler so that the page is served at Path. Everything else goes to next.
func Page(next http.Handler) http.Handler {
	all := files()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, below := strings.CutPrefix(r.URL.Path, Path)
		switch {
		case below:
			serve(w, r, all, name)
		case r.URL.Path == strings.TrimSuffix(Path, "/"):
			http.Redirect(w, r, Path, http.StatusTemporaryRedirect)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// serve serves a file.
func serve(w http.ResponseWriter, r *http.Request, all map[string]file, name string) {
	Protect(w.Header())
	f, ok := all[name]
	switch {
	case !ok:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", f.media)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", f.id)
	if r.Header.Get("If-None-Match") == f.id {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.data) // an error means that the client is gone
	}
}
