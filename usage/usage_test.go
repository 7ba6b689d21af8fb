package usage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestUsage runs testdata. Objects and quotas are JSON. The commands are
//
//	quota NAME                          a quota: its spec and what is used; its status reports that hard is
//	                                    spec.hard, unless it has a status of its own
//	write RESOURCE [sub=SUBRESOURCE]    a create of the object or, of two in two lines, an update from the
//	                                    first one to the second: the usage that is added to each quota, or the error
//	total NAME RESOURCE                 the objects of a namespace, one in a line: what they use of the quota
//	counted NAME...                     which resources count for one of the names
//	add NAME                            adds the usage of the last write to the quota, and shows it subtracted again
func TestUsage(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var quotas []*corev1.ResourceQuota
		var added map[string]corev1.ResourceList
		find := func(name string) *corev1.ResourceQuota {
			for _, q := range quotas {
				if q.Name == name {
					return q
				}
			}
			t.Fatalf("no quota %s", name)
			return nil
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			first := d.CmdArgs[0].Key
			switch d.Cmd {
			case "quota":
				q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: first}}
				parse(t, d.Input, q)
				if q.Status.Hard == nil {
					q.Status.Hard = q.Spec.Hard
				}
				quotas = append(quotas, q)
				return ""
			case "write":
				w := Write{Resource: schema.ParseGroupResource(first), Now: now}
				d.MaybeScanArgs(t, "sub", &w.Subresource)
				lines := strings.Split(d.Input, "\n")
				w.Object = object(t, w.Resource, lines[len(lines)-1])
				if len(lines) == 2 {
					w.Old = object(t, w.Resource, lines[0])
				}
				var err error
				if added, err = CheckRequest(quotas, w); err != nil {
					return err.Error()
				}
				var out []string
				for _, q := range quotas {
					if c, ok := added[q.Name]; ok {
						out = append(out, q.Name+": "+printed(c))
					}
				}
				return strings.Join(out, "\n")
			case "add":
				q := find(first)
				q.Status.Used = Add(q.Status.Used, added[first])
				return printed(q.Status.Used) + "\nsubtracted: " + printed(Subtract(q.Status.Used, added[first]))
			case "total":
				r := schema.ParseGroupResource(d.CmdArgs[1].Key)
				all := map[schema.GroupResource][]runtime.Object{r: {}}
				for _, line := range strings.Fields(d.Input) {
					all[r] = append(all[r], object(t, r, line))
				}
				return printed(Total(&find(first).Spec, all, now))
			case "counted":
				var named []corev1.ResourceName
				for _, a := range d.CmdArgs {
					named = append(named, corev1.ResourceName(a.Key))
				}
				return fmt.Sprint(Counted(named))
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func parse(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func object(t *testing.T, r schema.GroupResource, text string) runtime.Object {
	t.Helper()
	var obj runtime.Object
	switch r {
	case pods:
		obj = &corev1.Pod{}
	case services:
		obj = &corev1.Service{}
	case claims:
		obj = &corev1.PersistentVolumeClaim{}
	case devices:
		obj = &resourcev1.ResourceClaim{}
	default:
		return nil
	}
	parse(t, text, obj)
	return obj
}
