package cases

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	c "github.com/kubecascade/kubecascade/conformance"
)

func policies() []Case {
	all := group("policy", cascading, c.Collector,
		prove("replicationcontroller-orphans", policyRC, "C-23 C-25 D-60",
			"A DELETE of a ReplicationController without options orphans, without a warning."),
		prove("job-orphans", policyJob, "C-23 C-24 D-60",
			"A DELETE of a Job without options orphans, with a warning."),
		prove("job-explicit", policyJobExplicit, "C-22 C-24 D-48",
			"A DELETE of a Job with Background deletes its dependents, without a warning."),
		prove("replicationcontroller-explicit", policyRCExplicit, "C-22 D-43",
			"A DELETE of a ReplicationController with Foreground waits for its blocking dependents."),
		prove("replicaset-deletes", policyDeletes(c.ReplicaSet), "C-23 D-48",
			"A DELETE of a ReplicaSet without options deletes its dependents in the background."),
		prove("statefulset-deletes", policyDeletes(c.StatefulSet), "C-23 D-48",
			"A DELETE of a StatefulSet without options deletes its dependents in the background."),
		prove("cronjob-deletes", policyDeletes(c.CronJob), "C-23 D-48",
			"A DELETE of a CronJob without options deletes its dependents in the background."),
		prove("secret-deletes", policyDeletes(c.Secret), "C-23 D-48",
			"A DELETE of a Secret without options deletes its dependents in the background."),
		prove("collected-job", policyCollectedJob, "D-41 J-27",
			"The collector deletes a dependent Job in the background: its dependents are deleted too, although "+
				"they would be orphaned if a client deleted the Job without options."),
	)
	return append(all, group("policy", cascading, 0,
		prove("unknown-rejected", policyUnknown, "C-06",
			"An unknown propagationPolicy is rejected, and nothing is deleted."),
	)...)
}

func policyRC(t *T) {
	answer := orphans(t, c.ReplicationController, by())
	t.Check(len(answer.Warnings()) == 0, "no warning", strings.Join(answer.Warnings(), "; "), answer)
}

// preserved is part of the warning in the response to a Job's deletion without options.
const preserved = "child pods are preserved by default when jobs are deleted"

func warned(answer *c.Answer) bool {
	return slices.ContainsFunc(answer.Warnings(), func(w string) bool { return strings.Contains(w, preserved) })
}

// expectPreserved checks that a response has the warning of a Job's deletion without options.
func expectPreserved(t *T, answer *c.Answer) {
	t.Check(warned(answer), "a Warning header that says "+preserved, fmt.Sprint("the warnings ", answer.Warnings()),
		answer)
}

func policyJob(t *T) { expectPreserved(t, orphans(t, c.Job, by())) }

func policyJobExplicit(t *T) {
	answer := inBackground(t, c.Job, by(c.Background))
	t.Check(!warned(answer), "no warning", strings.Join(answer.Warnings(), "; "), answer)
}

func policyRCExplicit(t *T) { inForeground(t, c.ReplicationController, c.ConfigMap, by(c.Foreground)) }

func policyDeletes(k c.Kind) func(*T) {
	return func(t *T) { inBackground(t, k, by()) }
}

func policyUnknown(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	sideways := func(o map[string]any) { o["propagationPolicy"] = "Sideways" }
	t.Rejected(t.TryDelete(owner, sideways), http.StatusUnprocessableEntity,
		`Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan"`)
	t.Untouched(owner)
}

func policyCollectedJob(t *T) {
	root := t.Make(c.ConfigMap, "root")
	job := t.Make(c.Job, "job", c.Blocking(root))
	leaf := t.Make(c.ConfigMap, "leaf", c.Blocking(job))
	t.Delete(root)
	t.AwaitAll([]*Object{job, leaf}, c.Gone)
}
