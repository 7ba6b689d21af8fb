package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// waitSettled has the flags of "wait-settled".
type waitSettled struct {
	connection
	timeout  time.Duration
	revision int64
	output   string
}

func waitSettledCommand() *cobra.Command {
	s := &waitSettled{}
	c := &cobra.Command{
		Use:   "wait-settled",
		Short: "Wait until the controllers of a kubecascade server have nothing to do",
		Long: `Wait until the controllers of a kubecascade server have processed all writes and are idle, and print
the revision at which they were idle. After this revision, objects change only by new requests, or at the
printed times: the end of a TTL or of a grace period, a schedule, a retry after failures.
The exit code is 0 if the server has settled, 1 after --timeout (the error names the work in progress),
and 2 if there is no answer, for example because the server is not kubecascade.`,
		RunE: s.run,
	}
	s.identity(c)
	f := c.Flags()
	f.DurationVar(&s.timeout, "timeout", time.Minute, "how long to wait, at most 10m")
	f.Int64Var(&s.revision, "revision", 0, "also wait until the server has reached this resourceVersion")
	outputFlag(c, &s.output, "text", "json")
	return c
}

func (s *waitSettled) run(c *cobra.Command, _ []string) error {
	if s.timeout < 0 || s.revision < 0 {
		return errUsage{errors.New("--timeout and --revision can't be negative")}
	}
	if err := s.dial(); err != nil {
		return err
	}
	body, err := s.wait(c.Context())
	if err != nil {
		return err
	}
	var answer struct {
		Settled  bool
		Revision int64
		Waits    []struct {
			Controller, Why, Message, Until string
			Object                          *struct{ Kind, Namespace, Name string }
		}
		OmittedWaits int
	}
	if err := json.Unmarshal(body, &answer); err != nil || !answer.Settled {
		return errUnable{fmt.Errorf("%s did not answer as kubecascade does when it has settled", s.client.URL)}
	}
	if s.output == "json" {
		_, err := c.OutOrStdout().Write(body)
		return err
	}
	return settledText.Execute(c.OutOrStdout(), &answer)
}

var settledText = template.Must(template.New("").Parse(`settled at revision {{.Revision}}
{{range .Waits}}  until {{.Until}} {{.Controller}}: {{with .Object}}
{{- .Kind}} {{with .Namespace}}{{.}}/{{end}}{{.Name}}: {{end}}{{.Why}}{{with .Message}}: {{.}}{{end}}
{{end}}{{with .OmittedWaits}}  and {{.}} more
{{end}}`))

// unsettledText is the error for a server that had not settled at the timeout.
var unsettledText = template.Must(template.New("").Parse(`{{.Message}}, after {{.After}}{{range .Causes}}
  {{with .Field}}{{.}}: {{end}}{{.Message}}{{end}}`))

// settledDelay is the time that the server may take to answer after its timeout.
const settledDelay = 15 * time.Second

// wait returns the server's answer. If it has not settled at the timeout, the error has a line for each cause.
func (s *waitSettled) wait(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout+settledDelay)
	defer cancel()
	query := url.Values{"timeout": {s.timeout.String()}}
	if s.revision > 0 {
		query.Set("resourceVersion", strconv.FormatInt(s.revision, 10))
	}
	req, err := s.client.Own(ctx, http.MethodGet, "settled", query)
	if err != nil {
		return nil, err
	}
	body, err := s.client.Do(req)
	var failed *apierrors.StatusError
	switch {
	case err == nil:
		return body, nil
	case apierrors.IsNotFound(err):
		err = fmt.Errorf("%s does not serve %s: it is not kubecascade, or an older one", s.client.URL, req.URL.Path)
	case apierrors.IsTimeout(err) && errors.As(err, &failed) && failed.ErrStatus.Details != nil &&
		len(failed.ErrStatus.Details.Causes) > 0:
		var b strings.Builder
		err := unsettledText.Execute(&b, map[string]any{
			"Message": strings.TrimPrefix(failed.ErrStatus.Message, "Timeout: "), "After": s.timeout,
			"Causes": failed.ErrStatus.Details.Causes,
		})
		return nil, errors.Join(errors.New(b.String()), err)
	}
	return nil, errUnable{err}
}
