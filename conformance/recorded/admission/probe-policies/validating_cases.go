package main

import (
	"slices"

	admreg "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
)

// validatingCases are in the order of measured-policies.txt.
var validatingCases = slices.Concat(messages, failures, actions, conditions, parameters, variables)

var (
	ignore            = admreg.Ignore
	reason            = metav1.StatusReasonForbidden
	tooLarge          = metav1.StatusReasonRequestEntityTooLarge
	denyAct, allowAct = admreg.DenyAction, admreg.AllowAction
	cmKind            = &admreg.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
)

// costly is over the limit of one expression; thirty of cheap are over that of a policy.
const (
	costly = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(a,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(b,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(c,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(d,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(e,a+b+c+d+e<1000)))))"
	cheap  = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(a,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(b,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(c,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(d,a+b+c+d<1000))))"
)

// messages are what a denied request is told, and its reason and code.
var messages = []validatingCase{
	{name: "default message",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "object.metadata.name == 'x'\n && true "}}
		}},
	{name: "message", edit: func(p *policy, b *binding) {
		p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: " no "}}
	}},
	{name: "messageExpression",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{
				{Expression: "false", Message: "no", MessageExpression: "'name is ' + object.metadata.name"},
			}
		}},
	{name: "messageExpression fails",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no", MessageExpression: "object.foo"}}
		}},
	{name: "messageExpression newline",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "false", MessageExpression: "'a\\nb'"}}
		}},
	{name: "reason Forbidden",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no", Reason: &reason}}
		}},
	{name: "reason TooLarge",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no", Reason: &tooLarge}}
		}},
	{name: "two validations fail",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{
				{Expression: "false", Message: "first"}, {Expression: "false", Message: "second", Reason: &reason},
			}
		}},
	{name: "generateName", gen: true,
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
}

// failures are of expressions that can not be compiled or evaluated, or cost too much.
var failures = []validatingCase{
	{name: "runtime error Fail",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "object.foo == 1"}}
		}},
	{name: "runtime error Ignore",
		edit: func(p *policy, b *binding) {
			p.Spec.FailurePolicy = &ignore
			p.Spec.Validations = []admreg.Validation{{Expression: "object.foo == 1"}}
		}},
	{name: "compile error Fail",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "foo == 1"}}
		}},
	{name: "not boolean", edit: func(p *policy, b *binding) {
		p.Spec.Validations = []admreg.Validation{{Expression: "1"}}
	}},
	{name: "variable", edit: func(p *policy, b *binding) {
		p.Spec.Variables = []admreg.Variable{
			{Name: "n", Expression: "object.metadata.name"}, {Name: "m", Expression: "variables.n + 'x'"},
		}
		p.Spec.Validations = []admreg.Validation{{Expression: "variables.m == 'p'", MessageExpression: "variables.m"}}
	}},
	{name: "variable fails", edit: func(p *policy, b *binding) {
		p.Spec.Variables = []admreg.Variable{{Name: "n", Expression: "object.foo"}}
		p.Spec.Validations = []admreg.Validation{{Expression: "variables.n == 'p'"}}
	}},
	{name: "variable unknown",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "variables.n == 'p'"}}
		}},
	{name: "one too costly", edit: func(p *policy, b *binding) {
		p.Spec.Validations = []admreg.Validation{{Expression: costly}}
	}},
	{name: "budget of policy",
		edit: func(p *policy, b *binding) {
			for i := 0; i < 30; i++ {
				p.Spec.Validations = append(p.Spec.Validations, admreg.Validation{Expression: cheap})
			}
		}},
}

// actions are those of bindings, and audit annotations.
var actions = []validatingCase{
	{name: "Warn", edit: func(p *policy, b *binding) {
		b.Spec.ValidationActions = []admreg.ValidationAction{"Warn"}
		p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
	}},
	{name: "Audit", edit: func(p *policy, b *binding) {
		b.Spec.ValidationActions = []admreg.ValidationAction{"Audit"}
		p.Spec.Validations = []admreg.Validation{{Expression: "true"}, {Expression: "false", Message: "no"}}
	}},
	{name: "Warn Audit, runtime error",
		edit: func(p *policy, b *binding) {
			b.Spec.ValidationActions = []admreg.ValidationAction{"Warn", "Audit"}
			p.Spec.Validations = []admreg.Validation{{Expression: "object.foo == 1"}}
		}},
	{name: "Deny Audit", edit: func(p *policy, b *binding) {
		b.Spec.ValidationActions = []admreg.ValidationAction{"Deny", "Audit"}
		p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
	}},
	{name: "auditAnnotations",
		edit: func(p *policy, b *binding) {
			p.Spec.AuditAnnotations = []admreg.AuditAnnotation{
				{Key: "k", ValueExpression: "'v ' + object.metadata.name"}, {Key: "n", ValueExpression: "null"},
				{Key: "e", ValueExpression: "''"},
			}
		}},
	{name: "auditAnnotation error",
		edit: func(p *policy, b *binding) {
			p.Spec.AuditAnnotations = []admreg.AuditAnnotation{{Key: "k", ValueExpression: "object.foo"}}
		}},
	{name: "auditAnnotation err Warn only",
		edit: func(p *policy, b *binding) {
			b.Spec.ValidationActions = []admreg.ValidationAction{"Warn"}
			p.Spec.AuditAnnotations = []admreg.AuditAnnotation{{Key: "k", ValueExpression: "object.foo"}}
		}},
}

// conditions decide whether a policy applies.
var conditions = []validatingCase{
	{name: "matchCondition error",
		edit: func(p *policy, b *binding) {
			p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 1"}}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
	{name: "matchCondition false",
		edit: func(p *policy, b *binding) {
			p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "false"}}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
	{name: "matchCondition namespaceObject",
		edit: func(p *policy, b *binding) {
			p.Spec.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "namespaceObject == null"}}
			p.Spec.Validations = []admreg.Validation{
				{Expression: "namespaceObject.metadata.name != 'default'", Message: "namespaceObject is set here"},
			}
		}},
}

// parameters are found, missing, or of a kind that does not fit.
var parameters = []validatingCase{
	{name: "params missing Deny",
		edit: func(p *policy, b *binding) {
			p.Spec.ParamKind = cmKind
			b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
	{name: "params missing Allow",
		edit: func(p *policy, b *binding) {
			p.Spec.ParamKind = cmKind
			b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &allowAct}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
	{name: "params missing Deny Ignore",
		edit: func(p *policy, b *binding) {
			p.Spec.FailurePolicy = &ignore
			p.Spec.ParamKind = cmKind
			b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
	{name: "params selector none Deny",
		edit: func(p *policy, b *binding) {
			p.Spec.ParamKind = cmKind
			b.Spec.ParamRef = &admreg.ParamRef{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, ParameterNotFoundAction: &denyAct,
			}
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
	{name: "params used", objs: []runtime.Object{&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "cm", Namespace: "default"}, Data: map[string]string{"k": "v"},
	}}, edit: func(p *policy, b *binding) {
		p.Spec.ParamKind = cmKind
		b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
		p.Spec.Validations = []admreg.Validation{
			{Expression: "false", MessageExpression: "params.kind + params.apiVersion + params.data['k']"},
		}
	}},
	{name: "paramKind, no paramRef",
		edit: func(p *policy, b *binding) {
			p.Spec.ParamKind = cmKind
			p.Spec.Validations = []admreg.Validation{{Expression: "params != null", Message: "params is null"}}
		}},
	{name: "paramKind unknown",
		edit: func(p *policy, b *binding) {
			p.Spec.ParamKind = &admreg.ParamKind{APIVersion: "x.io/v1", Kind: "Foo"}
			b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", ParameterNotFoundAction: &denyAct}
			p.Spec.Validations = []admreg.Validation{{Expression: "true"}}
		}},
	{name: "paramRef ns, cluster kind",
		edit: func(p *policy, b *binding) {
			p.Spec.ParamKind = &admreg.ParamKind{APIVersion: "v1", Kind: "Namespace"}
			b.Spec.ParamRef = &admreg.ParamRef{Name: "cm", Namespace: "default", ParameterNotFoundAction: &denyAct}
			p.Spec.Validations = []admreg.Validation{{Expression: "true"}}
		}},
}

// variables of expressions are the objects, the request and the authorizer.
var variables = []validatingCase{
	{name: "selectors nil", edit: func(p *policy, b *binding) {
		p.Spec.MatchConstraints.NamespaceSelector = nil
		p.Spec.Validations = []admreg.Validation{{Expression: "true"}}
	}},
	{name: "authorizer", edit: func(p *policy, b *binding) {
		p.Spec.Validations = []admreg.Validation{{
			Expression: "authorizer.group('').resource('pods').namespace('default').check('create').allowed()",
			Message:    "not authorized",
		}}
	}},
	{name: "authorizer.requestResource",
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{
				{Expression: "authorizer.requestResource.check('custom').allowed()", Message: "not authorized"},
			}
		}},
	{name: "DELETE object null", op: admission.Delete,
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{
				Expression:        "object != null || oldObject.metadata.name != 'p'",
				MessageExpression: "request.operation + ' ' + oldObject.kind",
			}}
		}},
	{name: "request fields", edit: func(p *policy, b *binding) {
		p.Spec.Validations = []admreg.Validation{{
			Expression:        "false",
			MessageExpression: "request.kind.kind + request.resource.resource + request.name + request.namespace + request.operation + request.userInfo.username + string(request.dryRun) + request.options.kind",
		}}
	}},
	{name: "request.uid", edit: func(p *policy, b *binding) {
		p.Spec.Validations = []admreg.Validation{{Expression: "request.uid != ''"}}
	}},
	{name: "two policies", two: true,
		edit: func(p *policy, b *binding) {
			p.Spec.Validations = []admreg.Validation{{Expression: "false", Message: "no"}}
		}},
}
