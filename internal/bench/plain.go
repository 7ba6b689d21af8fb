package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

// plain runs f against a process of this program that only serves bytes.
func (b *bench) plain(ctx context.Context, f func(*target) error) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := exec.CommandContext(ctx, self, "-plain")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer func() {
		cancel()
		_ = c.Wait() // it ends by being killed
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	return f(&target{url: u, tls: &tls.Config{InsecureSkipVerify: true}, pid: c.Process.Pid})
}

// servePlain prints its URL, and serves until ctx is done.
func servePlain(ctx context.Context) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:   plainRoutes(),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Println("https://" + ln.Addr().String())
	if err := server.ServeTLS(ln, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// plainRoutes serve GET /size with so many bytes, GET /size/count with so many lines of that size, sent in pieces as
// large as those of watches, and /feed by broadcast.
func plainRoutes() http.Handler {
	const piece = 64 << 10
	body := bytes.Repeat([]byte{'x'}, 64<<20)
	r := chi.NewRouter()
	b := &broadcast{listeners: map[chan []byte]<-chan struct{}{}}
	r.Get("/feed", b.listen)
	r.Post("/feed", b.post)
	r.Get("/{size}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(chi.URLParam(r, "size"))
		if err != nil || n > len(body) {
			http.Error(w, "no such size", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(body[:n]) // a client that is gone needs none
	})
	r.Get("/{size}/{count}", func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(chi.URLParam(r, "size"))
		count, e := strconv.Atoi(chi.URLParam(r, "count"))
		if err != nil || e != nil || size < 1 || size > piece {
			http.Error(w, "no such size", http.StatusBadRequest)
			return
		}
		frames := bytes.Repeat(append(bytes.Repeat([]byte{'x'}, size-1), '\n'), piece/size)
		for sent := 0; sent < count; sent += len(frames) / size {
			if _, err := w.Write(frames[:min(len(frames), (count-sent)*size)]); err != nil {
				return
			}
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	})
	return r
}
