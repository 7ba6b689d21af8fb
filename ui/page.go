package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Path is the path of the page. It ends with a slash, so that the page's files are below it.
const Path = "/ui/"

//go:embed dist/index.html dist/app.js dist/app.css dist/icon.svg dist/licenses.txt
var dist embed.FS

// policy is the Content-Security-Policy of the page. It allows only the page's own files, and requests to its own
// server. Strings can't become markup or script. The library that draws the graph needs no more permissions.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Protect sets the headers that restrict a browser's use of a response of this page's server.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// file is a file of the page, with its media type and its entity tag.
type file struct {
	data      []byte
	media, id string
}

// media has the files of dist with their media types. Package mime would depend on files of the machine.
var media = map[string]string{
	"index.html": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
	"app.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml", "licenses.txt": "text/plain; charset=utf-8",
}

// files returns the page's files by their names below Path.
func files() map[string]file {
	all := map[string]file{}
	for name, media := range media {
		data, err := dist.ReadFile("dist/" + name)
		if err != nil {
			panic(err) // the files are embedded in the program
		}
		all[name] = file{data, media, fmt.Sprintf(`"%x"`, sha256.Sum256(data))}
	}
	all[""] = all["index.html"]
	return all
}

// Page wraps a handler so that the page is served at Path. Everything else goes to next.
func Page(next http.Handler) http.Handler {
	all := files()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name, below := strings.CutPrefix(r.URL.Path, Path); {
		case below:
			serveFile(w, r, all[name])
		case r.URL.Path == strings.TrimSuffix(Path, "/"):
			http.Redirect(w, r, Path, http.StatusTemporaryRedirect)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func serveFile(w http.ResponseWriter, r *http.Request, f file) {
	switch Protect(w.Header()); {
	case f.id == "":
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	default:
		w.Header().Set("Content-Type", f.media)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", f.id)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
	}
}
