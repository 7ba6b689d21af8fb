package loopback_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers/cronjob"
)

const crons = "/apis/batch/v1/namespaces/default/cronjobs"

// I-07: a CronJob creates Jobs that it controls, with names from the time, and recognizes them.
func TestCronJobMakesJobs(t *testing.T) {
	s := owning(t, nil, cronjob.New())
	w, made := s.Watch(crons+"?watch=true"), s.Watch(jobs+"?watch=true")
	do(t, s, "POST", crons,
		`{"metadata":{"name":"c"},"spec":{"schedule":"@every 1s","timeZone":"Asia/Tokyo","concurrencyPolicy":"Forbid","jobTemplate":{
		"metadata":{"labels":{"from":"c"}},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`)
	j := added(t, made, 1)[0]
	at, err := time.Parse(time.RFC3339, j.GetAnnotations()["batch.kubernetes.io/cronjob-scheduled-timestamp"])
	if err != nil || at.Format("-07:00") != "+09:00" || j.GetName() != fmt.Sprintf("c-%d", at.Unix()/60) ||
		j.GetLabels()["from"] != "c" {
		t.Errorf("%s of %v, labels %v: %v", j.GetName(), at, j.GetLabels(), err)
	}
	controlled(t, j, "CronJob", "c")
	known := eventually(t, w, "the Job to be known", func(e apiservertest.Event) bool {
		active, _, _ := unstructured.NestedSlice(e.Object.Object, "status", "active")
		return len(active) == 1
	})
	if last, _, _ := unstructured.NestedString(known.Object, "status", "lastScheduleTime"); last != at.UTC().Format(
		time.RFC3339,
	) {
		t.Errorf("last %s, scheduled at %v", last, at)
	}
	do(t, s, "DELETE", jobs+"/"+j.GetName(), `{"propagationPolicy":"Background"}`)
	eventually(t, w, "the Job to be missed", func(e apiservertest.Event) bool {
		_, has, _ := unstructured.NestedSlice(e.Object.Object, "status", "active")
		return !has
	})
}
