// Package web holds the page that the server shows at /: plain HTML, CSS and JavaScript modules, served as they are.
package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed index.html page
var files embed.FS

// policy lets the page load nothing but what is embedded here and talk to nobody but its own server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page at / and /page/. Everything else goes to next.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := asset(r)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		http.ServeFileFS(w, r, files, name)
	})
}

// asset returns which of the embedded files a request is for.
func asset(r *http.Request) (name string, ok bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return "", false
	}
	if r.URL.Path == "/" {
		return "index.html", true
	}
	name = strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if !strings.HasPrefix(name, "page/") {
		return "", false
	}
	info, err := fs.Stat(files, name)
	return name, err == nil && !info.IsDir()
}
