package policystatus_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/policystatus"
)

// memory is an API server with one policy. The controller's goroutines call it one after the other.
type memory struct {
	policy  *admissionv1.ValidatingAdmissionPolicy
	changed chan string
	// checked are the generations that were checked; during is called by a check.
	checked []int64
	during  func()
	// fail is how many checks and writes fail.
	failChecks, failWrites int
	applied                []admissionv1.ValidatingAdmissionPolicyStatus
}

func (m *memory) Follow(ctx context.Context, sink func(string)) error {
	for {
		select {
		case name := <-m.changed:
			sink(name)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *memory) Policy(name string) (*admissionv1.ValidatingAdmissionPolicy, error) {
	if m.policy == nil || m.policy.Name != name {
		return nil, nil
	}
	return m.policy.DeepCopy(), nil
}

func (m *memory) Check(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
	m.checked = append(m.checked, p.Generation)
	if m.during != nil {
		m.during()
	}
	if m.failChecks > 0 {
		m.failChecks--
		return nil, errors.New("not now")
	}
	if p.Generation == 1 {
		return nil, nil
	}
	return []admissionv1.ExpressionWarning{{FieldRef: "f", Warning: strconv.FormatInt(p.Generation, 10)}}, nil
}

func (m *memory) ApplyStatus(_ context.Context, p *admissionv1.ValidatingAdmissionPolicy) error {
	switch {
	case m.failWrites > 0:
		m.failWrites--
		return errors.New("not now")
	case m.policy == nil:
		return apierrors.NewNotFound(admissionv1.Resource("validatingadmissionpolicies"), p.Name)
	case m.policy.ResourceVersion != p.ResourceVersion:
		return apierrors.NewConflict(admissionv1.Resource("validatingadmissionpolicies"), p.Name, errors.New("changed"))
	}
	m.applied = append(m.applied, p.Status)
	m.policy.Status = p.Status
	m.changed <- p.Name
	return nil
}

// write stores a generation of the policy.
func (m *memory) write(generation int64) {
	next := &admissionv1.ValidatingAdmissionPolicy{}
	if m.policy != nil {
		next.Status = m.policy.Status
	}
	next.Name, next.Generation, next.ResourceVersion = "p", generation, strconv.FormatInt(generation, 10)
	m.policy = next
	m.changed <- "p"
}

// status is what the controller writes for a generation.
func status(generation int64, warnings ...admissionv1.ExpressionWarning) admissionv1.ValidatingAdmissionPolicyStatus {
	return admissionv1.ValidatingAdmissionPolicyStatus{
		ObservedGeneration: generation, TypeChecking: &admissionv1.TypeChecking{ExpressionWarnings: warnings},
	}
}

// TestRun: each generation is checked once, in spite of failures; what changes during a check is checked again, and no
// status is written for it before (M-52, M-55).
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{changed: make(chan string, 10), failChecks: 1, failWrites: 1}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			policystatus.New(m, nil).Run(ctx)
		}()
		settle := func() {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		m.changed <- "absent"
		settle()
		m.write(1)
		settle()
		m.changed <- "p" // an event without a new generation
		settle()
		m.during = func() {
			m.during = nil
			m.write(3)
		}
		m.write(2)
		settle()
		m.during = func() { m.policy = nil }
		m.write(4)
		settle()
		cancel()
		<-ended
		if diff := cmp.Diff([]int64{1, 1, 1, 2, 3, 4}, m.checked); diff != "" {
			t.Error(diff)
		}
		want := []admissionv1.ValidatingAdmissionPolicyStatus{
			status(1), status(3, admissionv1.ExpressionWarning{FieldRef: "f", Warning: "3"}),
		}
		if diff := cmp.Diff(want, m.applied); diff != "" {
			t.Error(diff)
		}
	})
}
