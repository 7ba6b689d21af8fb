package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settledPath is where a kubecascade says when it has settled.
const settledPath = "/kubecascade/v1/settled"

// waitSettled is "wait-settled".
type waitSettled struct {
	question
	timeout  time.Duration
	revision int64
}

func waitSettledCommand() *cobra.Command {
	s := &waitSettled{}
	c := &cobra.Command{
		Use:   "wait-settled",
		Short: "Wait until the controllers of a kubecascade server have nothing to do",
		Long: `Wait until the controllers of a kubecascade server have processed all writes and are idle, and print
that revision. After it, objects change only by new requests, or at the times that are printed: of a TTL,
a schedule, a grace period, a retry after failures.
The exit code is 0 if it has settled, 1 if not within --timeout, with what is going on as the error, and
2 if that is not known, as from a server that is not kubecascade.`,
		RunE: s.run,
	}
	s.identity(c)
	f := c.Flags()
	f.DurationVar(&s.timeout, "timeout", time.Minute, "how long to wait, at most 10m")
	f.Int64Var(&s.revision, "revision", 0, "wait for that resourceVersion, too")
	f.StringVarP(&s.output, "output", "o", "text", "format of the answer: text, json")
	return c
}

// delay is how much longer than its timeout the server may take to answer.
const delay = 15 * time.Second

func (s *waitSettled) run(c *cobra.Command, _ []string) error {
	if err := (outputs{s.output}).check("text", "json"); err != nil {
		return err
	}
	if s.timeout < 0 || s.revision < 0 {
		return errUsage{errors.New("--timeout and --revision can't be negative")}
	}
	if err := s.dial(); err != nil {
		return err
	}
	query := url.Values{"timeout": {s.timeout.String()}}
	if s.revision > 0 {
		query.Set("resourceVersion", strconv.FormatInt(s.revision, 10))
	}
	req, err := http.NewRequestWithContext(
		c.Context(),
		http.MethodGet,
		s.client.URL+settledPath+"?"+query.Encode(),
		nil,
	)
	if err != nil {
		return errUsage{fmt.Errorf("--server: %w", err)}
	}
	client := *s.client.HTTP
	client.Timeout = s.timeout + delay
	res, err := client.Do(req)
	if err != nil {
		return errUnable{err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return errUnable{fmt.Errorf("GET %s: %w", settledPath, err)}
	}
	if res.StatusCode != http.StatusOK {
		return s.failed(res, body)
	}
	return s.show(c.OutOrStdout(), body)
}

// failed is the error of a response.
func (s *waitSettled) failed(res *http.Response, body []byte) error {
	if res.StatusCode == http.StatusNotFound {
		return errUnable{
			fmt.Errorf("%s does not serve %s: it is not kubecascade, or an older one", s.client.URL, settledPath),
		}
	}
	var st metav1.Status
	if json.Unmarshal(body, &st) != nil || st.Message == "" {
		return errUnable{fmt.Errorf("GET %s: %s", settledPath, res.Status)}
	}
	if res.StatusCode != http.StatusGatewayTimeout || st.Details == nil || len(st.Details.Causes) == 0 {
		return errUnable{errors.New(st.Message)}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, after %s", strings.TrimPrefix(st.Message, "Timeout: "), s.timeout)
	for _, cause := range st.Details.Causes {
		b.WriteString("\n  ")
		if cause.Field != "" {
			b.WriteString(cause.Field + ": ")
		}
		b.WriteString(cause.Message)
	}
	return errors.New(b.String())
}

// show prints the answer.
func (s *waitSettled) show(w io.Writer, body []byte) error {
	var answer struct {
		Settled  bool
		Revision int64
		Waits    []struct {
			Controller, Why, Message string
			Until                    metav1.Time
			Object                   *struct{ Kind, Namespace, Name string }
		}
		OmittedWaits int
	}
	if err := json.Unmarshal(body, &answer); err != nil || !answer.Settled {
		return errUnable{fmt.Errorf("%s did not answer GET %s as kubecascade does", s.client.URL, settledPath)}
	}
	if s.output == "json" {
		_, err := w.Write(body)
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "settled at revision %d\n", answer.Revision)
	for _, one := range answer.Waits {
		fmt.Fprintf(&b, "  until %s %s: ", one.Until.UTC().Format(time.RFC3339), one.Controller)
		if o := one.Object; o != nil {
			b.WriteString(o.Kind + " " + strings.TrimPrefix(o.Namespace+"/", "/") + o.Name + ": ")
		}
		b.WriteString(one.Why)
		if one.Message != "" {
			b.WriteString(": " + one.Message)
		}
		b.WriteByte('\n')
	}
	if answer.OmittedWaits > 0 {
		fmt.Fprintf(&b, "  and %d more\n", answer.OmittedWaits)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
