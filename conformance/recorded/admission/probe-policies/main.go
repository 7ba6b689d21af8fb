// Command probe-policies runs upstream's plugins for admission policies, and prints what they answer.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	admreg "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	auditapi "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/warning"
	clientgoapplyconfig "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/dynamic"
	dynfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
)

var _ = initializer.New
var _ dynamic.Interface
var _ kubernetes.Interface
var _ = matching.NewMatcher

type rec struct{ w []string }

func (r *rec) AddWarning(agent, text string) { r.w = append(r.w, text) }

type az struct{}

func (az) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "nobody", nil
}

type tcm struct{ c managedfields.TypeConverter }

func (t tcm) GetTypeConverter(gvk schema.GroupVersionKind) managedfields.TypeConverter { return t.c }
func (t tcm) Run(ctx context.Context)                                                  {}

func show(name string, err error, warns []string, ann map[string]string, obj runtime.Object) {
	extra := ""
	if len(warns) > 0 {
		extra += fmt.Sprintf(" warnings=%q", warns)
	}
	if len(ann) > 0 {
		b, _ := json.Marshal(ann)
		extra += " audit=" + string(b)
	}
	if err == nil {
		b, _ := json.Marshal(obj)
		s := string(b)
		if i := strings.Index(s, `,"spec"`); i > 0 && !strings.Contains(name, "spec") {
			s = s[:i]
		}
		fmt.Printf("%-30s OK%s %s\n", name, extra, s)
		return
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		st := s.Status()
		b, _ := json.Marshal(st.Details)
		fmt.Printf("%-30s %d %s | %s | %s%s\n", name, st.Code, st.Reason, st.Message, b, extra)
		return
	}
	fmt.Printf("%-30s plain %T %v%s\n", name, err, err, extra)
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	defer generic.SetPolicyRefreshIntervalForTests(20 * time.Millisecond)()
	fail, ignore := admreg.Fail, admreg.Ignore
	_ = ignore
	eq := admreg.Equivalent
	all := admreg.AllScopes
	match := func() *admreg.MatchResources {
		return &admreg.MatchResources{MatchPolicy: &eq, NamespaceSelector: &metav1.LabelSelector{},
			ObjectSelector: &metav1.LabelSelector{},
			ResourceRules: []admreg.NamedRuleWithOperations{{RuleWithOperations: admreg.RuleWithOperations{
				Operations: []admreg.OperationType{"*"},
				Rule: admreg.Rule{
					APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Scope: &all,
				},
			}}}}
	}
	reason := metav1.StatusReasonForbidden
	tooLarge := metav1.StatusReasonRequestEntityTooLarge
	denyAct, allowAct := admreg.DenyAction, admreg.AllowAction
	cmKind := &admreg.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	type vc struct {
		name string
		edit func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding)
		gen  bool
		objs []runtime.Object
		two  bool
		op   admission.Operation
	}
	costly := "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(a,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(b,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(c,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(d,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(e,a+b+c+d+e<1000)))))"
	cheap := "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(a,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(b,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(c,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(d,a+b+c+d<1000))))"
	cases := []vc{
		{name: "default message",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "object.metadata.name == 'x'\n && true "}}
			}},
		{name: "message", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: " no "}}
		}},
		{name: "messageExpression",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{
					{Expression: "false", Message: "no", MessageExpression: "'name is ' + object.metadata.name"},
				}
			}},
		{name: "messageExpression fails",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no", MessageExpression: "object.foo"}}
			}},
		{name: "messageExpression newline",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "false", MessageExpression: "'a\\nb'"}}
			}},
		{name: "reason Forbidden",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no", Reason: &reason}}
			}},
		{name: "reason TooLarge",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no", Reason: &tooLarge}}
			}},
		{name: "two validations fail",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{
					{Expression: "false", Message: "first"}, {Expression: "false", Message: "second", Reason: &reason},
				}
			}},
		{name: "generateName", gen: true,
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
		{name: "runtime error Fail",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "object.foo == 1"}}
			}},
		{name: "runtime error Ignore",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.FailurePolicy = &ignore
				p.Spec.Validations = []admreg.Validation{{Expression: "object.foo == 1"}}
			}},
		{name: "compile error Fail",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "foo == 1"}}
			}},
		{name: "not boolean", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "1"}}
		}},
		{name: "variable", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Variables = []admreg.Variable{
				{Name: "n", Expression: "object.metadata.name"}, {Name: "m", Expression: "variables.n + 'x'"},
			}
			p.Spec.Validations = []admreg.Validation{{Expression: "variables.m == 'p'", MessageExpression: "variables.m"}}
		}},
		{name: "variable fails", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Variables = []admreg.Variable{{Name: "n", Expression: "object.foo"}}
			p.Spec.Validations = []admreg.Validation{{Expression: "variables.n == 'p'"}}
		}},
		{name: "variable unknown",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "variables.n == 'p'"}}
			}},
		{name: "one too costly", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Validations = []admreg.Validation{{Expression: costly}}
		}},
		{name: "budget of policy",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				for i := 0; i < 30; i++ {
					p.Spec.Validations = append(p.Spec.Validations, admreg.Validation{Expression: cheap})
				}
			}},
		{name: "Warn", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			b.Spec.ValidationActions = []admreg.ValidationAction{"Warn"}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
		{name: "Audit", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			b.Spec.ValidationActions = []admreg.ValidationAction{"Audit"}
			p.Spec.Validations = []admreg.Validation{{Expression: "true"}, {Expression: "false", Message: "no"}}
		}},
		{name: "Warn Audit, runtime error",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				b.Spec.ValidationActions = []admreg.ValidationAction{"Warn", "Audit"}
				p.Spec.Validations = []admreg.Validation{{Expression: "object.foo == 1"}}
			}},
		{name: "Deny Audit", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			b.Spec.ValidationActions = []admreg.ValidationAction{"Deny", "Audit"}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
		{name: "auditAnnotations",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.AuditAnnotations = []admreg.AuditAnnotation{
					{Key: "k", ValueExpression: "'v ' + object.metadata.name"}, {Key: "n", ValueExpression: "null"},
					{Key: "e", ValueExpression: "''"},
				}
			}},
		{name: "auditAnnotation error",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.AuditAnnotations = []admreg.AuditAnnotation{{Key: "k", ValueExpression: "object.foo"}}
			}},
		{name: "auditAnnotation err Warn only",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				b.Spec.ValidationActions = []admreg.ValidationAction{"Warn"}
				p.Spec.AuditAnnotations = []admreg.AuditAnnotation{{Key: "k", ValueExpression: "object.foo"}}
			}},
		{name: "matchCondition error",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 1"}}
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
		{name: "matchCondition false",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "false"}}
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
		{name: "matchCondition namespaceObject",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "namespaceObject == null"}}
				p.Spec.Validations = []admreg.Validation{
					{Expression: "namespaceObject.metadata.name != 'default'", Message: "namespaceObject is set here"},
				}
			}},
		{name: "params missing Deny",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.ParamKind = cmKind
				b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
		{name: "params missing Allow",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.ParamKind = cmKind
				b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &allowAct}
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
		{name: "params missing Deny Ignore",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.FailurePolicy = &ignore
				p.Spec.ParamKind = cmKind
				b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
		{name: "params selector none Deny",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.ParamKind = cmKind
				b.Spec.ParamRef = &admreg.ParamRef{
					Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, ParameterNotFoundAction: &denyAct,
				}
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
		{name: "params used", objs: []runtime.Object{&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "cm", Namespace: "default"}, Data: map[string]string{"k": "v"},
		}}, edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.ParamKind = cmKind
			b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
			p.Spec.Validations = []admreg.Validation{
				{Expression: "false", MessageExpression: "params.kind + params.apiVersion + params.data['k']"},
			}
		}},
		{name: "paramKind, no paramRef",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.ParamKind = cmKind
				p.Spec.Validations = []admreg.Validation{{Expression: "params != null", Message: "params is null"}}
			}},
		{name: "paramKind unknown",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.ParamKind = &admreg.ParamKind{APIVersion: "x.io/v1", Kind: "Foo"}
				b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
				p.Spec.Validations = []admreg.Validation{{Expression: "true"}}
			}},
		{name: "paramRef ns, cluster kind",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.ParamKind = &admreg.ParamKind{APIVersion: "v1", Kind: "Namespace"}
				b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", Namespace: "default", ParameterNotFoundAction: &denyAct}
				p.Spec.Validations = []admreg.Validation{{Expression: "true"}}
			}},
		{name: "selectors nil", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.MatchConstraints.NamespaceSelector = nil
			p.Spec.Validations = []admreg.Validation{{Expression: "true"}}
		}},
		{name: "authorizer", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Validations = []admreg.Validation{{
				Expression: "authorizer.group('').resource('pods').namespace('default').check('create').allowed()",
				Message:    "not authorized",
			}}
		}},
		{name: "authorizer.requestResource",
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{
					{Expression: "authorizer.requestResource.check('custom').allowed()", Message: "not authorized"},
				}
			}},
		{name: "DELETE object null", op: admission.Delete,
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{
					Expression:        "object != null || oldObject.metadata.name != 'p'",
					MessageExpression: "request.operation + ' ' + oldObject.kind",
				}}
			}},
		{name: "request fields", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Validations = []admreg.Validation{{
				Expression:        "false",
				MessageExpression: "request.kind.kind + request.resource.resource + request.name + request.namespace + request.operation + request.userInfo.username + string(request.dryRun) + request.options.kind",
			}}
		}},
		{name: "request.uid", edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "request.uid != ''"}}
		}},
		{name: "two policies", two: true,
			edit: func(p *admreg.ValidatingAdmissionPolicy, b *admreg.ValidatingAdmissionPolicyBinding) {
				p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
			}},
	}
	run := func(c vc) {
		p := &admreg.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "pol.example.com", ResourceVersion: "1"},
			Spec:       admreg.ValidatingAdmissionPolicySpec{FailurePolicy: &fail, MatchConstraints: match()},
		}
		b := &admreg.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{
			Name: "bind",
		}, Spec: admreg.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: p.Name, ValidationActions: []admreg.ValidationAction{"Deny"},
		}}
		c.edit(p, b)
		objs := append([]runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, p, b}, c.objs...)
		if c.two {
			p2, b2 := p.DeepCopy(), b.DeepCopy()
			p2.Name, b2.Name, b2.Spec.PolicyName = "a.example.com", "abind", "a.example.com"
			objs = append(objs, p2, b2)
		}
		cs := fake.NewClientset(objs...)
		f := informers.NewSharedInformerFactory(cs, 0)
		stop := make(chan struct{})
		defer close(stop)
		pl, err := validating.NewPlugin(nil)
		if err != nil {
			panic(err)
		}
		rm := meta.NewDefaultRESTMapper(nil)
		rm.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
		rm.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
		pl.SetRESTMapper(rm)
		pl.SetDynamicClient(dynfake.NewSimpleDynamicClient(scheme.Scheme))
		pl.SetDrainedNotification(stop)
		pl.SetAuthorizer(az{})
		pl.SetExternalKubeClientSet(cs)
		pl.SetExternalKubeInformerFactory(f)
		if e := pl.ValidateInitialization(); e != nil {
			panic(e)
		}
		f.Core().V1().ConfigMaps().Informer()
		f.Start(stop)
		f.WaitForCacheSync(stop)
		pod := &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		name := "p"
		if c.gen {
			pod.Name, pod.GenerateName, name = "", "gen-", ""
		}
		var obj, old runtime.Object = pod, nil
		op := admission.Create
		var opts runtime.Object = &metav1.CreateOptions{
			TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"},
		}
		if c.op == admission.Delete {
			op, obj, old = c.op, nil, pod
			opts = &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "meta.k8s.io/v1"}}
		}
		a := admission.NewAttributesRecord(
			obj, old, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "default", name,
			schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", op, opts, false,
			&user.DefaultInfo{Name: "alice", Groups: []string{"g"}},
		)
		r := &rec{}
		ctx := audit.WithAuditContext(warning.WithWarningRecorder(context.Background(), r))
		ac := audit.AuditContextFrom(ctx)
		ac.Init(audit.RequestAuditConfig{Level: auditapi.LevelRequestResponse}, nil)
		time.Sleep(80 * time.Millisecond)
		adm := admission.WithAudit(pl).(admission.ValidationInterface)
		err = adm.Validate(ctx, a, admission.NewObjectInterfacesFromScheme(scheme.Scheme))
		show(c.name, err, r.w, ac.GetEventAnnotations(), nil)
	}
	fmt.Println("===== ValidatingAdmissionPolicy")
	for _, c := range cases {
		run(c)
	}

	type mc struct {
		name string
		muts []admreg.Mutation
		edit func(p *admreg.MutatingAdmissionPolicy)
	}
	ap := func(e string) admreg.Mutation {
		return admreg.Mutation{
			PatchType: admreg.PatchTypeApplyConfiguration, ApplyConfiguration: &admreg.ApplyConfiguration{Expression: e},
		}
	}
	jp := func(e string) admreg.Mutation {
		return admreg.Mutation{PatchType: admreg.PatchTypeJSONPatch, JSONPatch: &admreg.JSONPatch{Expression: e}}
	}
	mcases := []mc{
		{name: "apply label", muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{labels: {'a':'b'}}}")}},
		{
			name: "apply container by key spec",
			muts: []admreg.Mutation{ap("Object{spec: Object.spec{containers: [Object.spec.containers{name:'d', image:'x'}]}}")},
		},
		{
			name: "apply atomic list",
			muts: []admreg.Mutation{ap("Object{spec: Object.spec{containers: [Object.spec.containers{name:'c', args:['x']}]}}")},
		},
		{name: "apply atomic map", muts: []admreg.Mutation{ap("Object{spec: Object.spec{nodeSelector: {'a':'b'}}}")}},
		{name: "apply unknown field", muts: []admreg.Mutation{ap("Object{spec: Object.spec{fooo: 'b'}}")}},
		{name: "apply wrong type name", muts: []admreg.Mutation{ap("Object{spec: Object.metadata{labels: {'a':'b'}}}")}},
		{name: "apply wrong value type", muts: []admreg.Mutation{ap("Object{spec: Object.spec{hostNetwork: 'x'}}")}},
		{name: "apply returns map", muts: []admreg.Mutation{ap("{'a': 'b'}")}},
		{
			name: "apply runtime error",
			muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{labels: {'a': object.foo}}}")},
		},
		{name: "apply compile error", muts: []admreg.Mutation{ap("Object{")}},
		{
			name: "apply remove by optional",
			muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{?labels: optional.none()}}")},
		},
		{
			name: "json patch add",
			muts: []admreg.Mutation{jp("[JSONPatch{op:'add', path:'/metadata/labels', value: {'a':'b'}}]")},
		},
		{name: "json patch escape", muts: []admreg.Mutation{jp(
			"[JSONPatch{op:'add', path:'/metadata/labels', value: {'k':'b'}}, JSONPatch{op:'add', path:'/metadata/labels/'+jsonpatch.escapeKey('a/b~c'), value: 'x'}]",
		)}},
		{name: "json patch test false", muts: []admreg.Mutation{jp(
			"[JSONPatch{op:'test', path:'/metadata/name', value: 'zz'}, JSONPatch{op:'add', path:'/metadata/labels', value: {'a':'b'}}]",
		)}},
		{name: "json patch missing path", muts: []admreg.Mutation{jp("[JSONPatch{op:'remove', path:'/metadata/labels/x'}]")}},
		{name: "json patch bad op", muts: []admreg.Mutation{jp("[JSONPatch{op:'frob', path:'/metadata/labels/x'}]")}},
		{
			name: "json patch unknown field",
			muts: []admreg.Mutation{jp("[JSONPatch{op:'add', path:'/spec/fooo', value: 'x'}]")},
		},
		{name: "json patch wrong type", muts: []admreg.Mutation{jp("[JSONPatch{op:'replace', path:'/spec', value: 'x'}]")}},
		{name: "json patch object spec", muts: []admreg.Mutation{
			jp("[JSONPatch{op:'add', path:'/spec/containers/-', value: Object.spec.containers{name:'d', image:'x'}}]"),
		}},
		{name: "json patch not list", muts: []admreg.Mutation{jp("JSONPatch{op:'add', path:'/spec/fooo', value: 'x'}")}},
		{name: "error Ignore", muts: []admreg.Mutation{
			jp("[JSONPatch{op:'remove', path:'/metadata/labels/x'}]"),
			ap("Object{metadata: Object.metadata{labels: {'a':'b'}}}"),
		}, edit: func(p *admreg.MutatingAdmissionPolicy) { p.Spec.FailurePolicy = &ignore }},
		{name: "error then other mutation", muts: []admreg.Mutation{
			jp("[JSONPatch{op:'remove', path:'/metadata/labels/x'}]"), jp("[JSONPatch{op:'remove', path:'/metadata/labels/y'}]"),
		}},
		{name: "matchCondition error", muts: []admreg.Mutation{ap("Object{metadata: Object.metadata{labels: {'a':'b'}}}")},
			edit: func(p *admreg.MutatingAdmissionPolicy) {
				p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 1"}}
			}},
		{
			name: "change metadata.name",
			muts: []admreg.Mutation{jp("[JSONPatch{op:'replace', path:'/metadata/name', value: 'q'}]")},
		},
	}
	fmt.Println("===== MutatingAdmissionPolicy")
	tc := clientgoapplyconfig.NewTypeConverter(scheme.Scheme)
	_ = tc
	for _, c := range mcases {
		p := &admreg.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{
			Name: "pol.example.com", ResourceVersion: "1",
		}, Spec: admreg.MutatingAdmissionPolicySpec{
			FailurePolicy: &fail, MatchConstraints: match(), Mutations: c.muts, ReinvocationPolicy: "Never",
		}}
		b := &admreg.MutatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "bind"}, Spec: admreg.MutatingAdmissionPolicyBindingSpec{PolicyName: p.Name},
		}
		if c.edit != nil {
			c.edit(p)
		}
		cs := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, p, b)
		f := informers.NewSharedInformerFactory(cs, 0)
		stop := make(chan struct{})
		rm := meta.NewDefaultRESTMapper(nil)
		src := generic.NewPlugin[mutating.PolicyHook](admission.NewHandler(admission.Create, admission.Update),
			func(
				f informers.SharedInformerFactory, client kubernetes.Interface, d dynamic.Interface, m meta.RESTMapper,
			) generic.Source[mutating.PolicyHook] {
				return generic.NewPolicySource(f.Admissionregistration().V1().MutatingAdmissionPolicies().
					Informer(), f.Admissionregistration().V1().MutatingAdmissionPolicyBindings().Informer(),
					mutating.NewMutatingAdmissionPolicyAccessor, mutating.NewMutatingAdmissionPolicyBindingAccessor, compile, f, d, m)
			},
			func(
				a authorizer.Authorizer, m *matching.Matcher, client kubernetes.Interface,
			) generic.Dispatcher[mutating.PolicyHook] {
				return mutating.NewDispatcher(a, m, tcm{tc})
			})
		src.SetEnabled(true)
		src.SetRESTMapper(rm)
		src.SetDynamicClient(dynfake.NewSimpleDynamicClient(scheme.Scheme))
		src.SetDrainedNotification(stop)
		src.SetAuthorizer(az{})
		src.SetExternalKubeClientSet(cs)
		src.SetExternalKubeInformerFactory(f)
		if e := src.ValidateInitialization(); e != nil {
			panic(e)
		}
		f.Start(stop)
		f.WaitForCacheSync(stop)
		pod := &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		a := admission.NewAttributesRecord(
			pod, nil, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "default", "p",
			schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", admission.Create, &metav1.CreateOptions{}, false,
			&user.DefaultInfo{Name: "alice", Groups: []string{"g"}},
		)
		time.Sleep(80 * time.Millisecond)
		err := src.Dispatch(context.Background(), a, admission.NewObjectInterfacesFromScheme(scheme.Scheme))
		show(c.name, err, nil, nil, pod)
		close(stop)
	}
}
