package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestQuotaDelay runs testdata/quota/delays. The commands are
//
//	at T                     the time is T after the beginning
//	wrote QUOTA [unknown]    a quota is created or written
//	changed                  an object is deleted or changed
//	begin                    the namespace is counted
//	failed                   the count has failed
//	elsewhere                the quotas name resources of other servers
//
// Each prints when the namespace is counted next.
func TestQuotaDelay(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	q, now := &quotaDelay{quotas: map[string]bool{}}, start
	datadriven.RunTest(t, "testdata/quota/delays", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "at":
			after, err := time.ParseDuration(d.CmdArgs[0].Key)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			now = start.Add(after)
		case "wrote":
			q.wrote(d.CmdArgs[0].Key, d.HasArg("unknown"), now)
		case "changed":
			q.changed(now)
		case "failed":
			q.failed(now)
		case "elsewhere":
			q.elsewhere = true
		case "begin":
			if wait, ok := q.wait(now); !ok || wait > 0 {
				d.Fatalf(t, "it is not due")
			}
			q.begin(now)
		default:
			d.Fatalf(t, "unknown command")
		}
		switch wait, ok := q.wait(now); {
		case !ok:
			return "nothing"
		case wait == 0:
			return "now"
		default:
			return fmt.Sprintf("at %v", now.Add(wait).Sub(start))
		}
	})
}
