package main

import (
	"net/http"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admreg "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
)

// costly is over the limit of the match conditions of a webhook.
const costly = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(a,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(b,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(c,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(d,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(e,a+b+c+d+e<1000)))))"

var ignore = admreg.Ignore

// cases are in the order of measured-webhooks.txt.
func (s *server) cases() []webhookCase {
	return slices.Concat(s.connections(), s.responses(), s.reviews(), s.denials(), s.patches(), s.declarations(),
		s.conditions())
}

// connections fail, or the host can not be trusted; the first one is allowed.
func (s *server) connections() []webhookCase {
	refused := "https://127.0.0.1:1/hook"
	one := int32(1)
	return []webhookCase{
		{name: "allowed", answer: ok},
		{name: "connection refused", edit: func(h *hook) { h.ClientConfig.URL = &refused }},
		{name: "refused, Ignore", edit: func(h *hook) {
			h.ClientConfig.URL = &refused
			h.FailurePolicy = &ignore
		}},
		{name: "timeout 1s", answer: func(w http.ResponseWriter, _ *http.Request, rv *admissionv1.AdmissionReview) {
			time.Sleep(1500 * time.Millisecond)
		}, edit: func(h *hook) { h.TimeoutSeconds = &one }},
		{name: "unknown CA", answer: ok, edit: func(h *hook) { h.ClientConfig.CABundle = nil }},
		{name: "bad caBundle", answer: ok, edit: func(h *hook) { h.ClientConfig.CABundle = []byte("x") }},
		{name: "wrong host name", answer: ok, edit: func(h *hook) {
			u := strings.Replace(s.url, "127.0.0.1", "localhost", 1)
			h.ClientConfig.URL = &u
		}},
		{name: "plain http server", edit: func(h *hook) { h.ClientConfig.URL = &s.plainURL }},
		{name: "service default resolver", edit: func(h *hook) {
			h.ClientConfig.URL = nil
			p := "/x"
			h.ClientConfig.Service = &admreg.ServiceReference{Namespace: "nsx", Name: "svcx", Path: &p}
		}},
	}
}

// responses are HTTP responses with all kinds of codes, content types and bodies.
func (s *server) responses() []webhookCase {
	return []webhookCase{
		{name: "500 text", answer: raw(500, "text/plain", "boom")},
		{name: "500 no content type", answer: raw(500, "", "boom")},
		{name: "500 json", answer: raw(500, "application/json", `{"a":1}`)},
		{name: "403 Status body", answer: raw(
			403, "application/json",
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"go away","reason":"Forbidden","code":403}`,
		)},
		{name: "404 text", answer: raw(404, "text/plain; charset=utf-8", "404 page not found\n")},
		{name: "401", answer: raw(401, "text/plain", "who")},
		{name: "503", answer: raw(503, "text/plain", "later")},
		{name: "302", answer: raw(302, "text/plain", "later")},
		{name: "204 empty", answer: raw(204, "application/json", "")},
		{name: "200 empty", answer: raw(200, "application/json", "")},
		{name: "200 not json", answer: raw(200, "application/json", "hello")},
		{name: "200 {}", answer: raw(200, "application/json", "{}")},
		{name: "200 other kind", answer: raw(200, "application/json", `{"kind":"Pod","apiVersion":"v1"}`)},
		{name: "200 Status failure", answer: raw(
			200, "application/json",
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"go away","reason":"Forbidden","code":403}`,
		)},
		{
			name:   "200 Status success",
			answer: raw(200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`),
		},
		{name: "200 text/plain valid", answer: raw(
			200, "text/plain",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true}}`,
		)},
		{name: "200 text/html", answer: raw(200, "text/html", `<html>`)},
		{name: "200 bad content type", answer: raw(200, ";;", `x`)},
		{name: "201 valid", answer: raw(
			201, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true}}`,
		)},
	}
}

// reviews are AdmissionReviews whose response is missing or does not fit.
func (s *server) reviews() []webhookCase {
	return []webhookCase{
		{
			name:   "no response",
			answer: raw(200, "application/json", `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`),
		},
		{name: "wrong uid", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x","allowed":true}}`,
		)},
		{name: "v1beta1 answer", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"UID","allowed":true}}`,
		)},
		{
			name:   "no kind",
			answer: raw(200, "application/json", `{"apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true}}`),
		},
		{name: "no kind nor version", answer: raw(200, "application/json", `{"response":{"uid":"UID","allowed":true}}`)},
		{name: "unknown field", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","foo":1,"response":{"uid":"UID","allowed":true}}`,
		)},
		{name: "wrong type", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":"yes"}}`,
		)},
		{name: "EOF", answer: func(w http.ResponseWriter, _ *http.Request, rv *admissionv1.AdmissionReview) {
			panic(http.ErrAbortHandler)
		}},
	}
}

// denials are what a webhook that denies may say.
func (s *server) denials() []webhookCase {
	return []webhookCase{
		{name: "deny no status", answer: deny(nil)},
		{name: "deny message", answer: deny(&metav1.Status{Message: "no way"})},
		{name: "deny reason only", answer: deny(&metav1.Status{Reason: "Forbidden"})},
		{name: "deny code 200 msg", answer: deny(&metav1.Status{Code: 200, Message: "m", Status: "Success"})},
		{name: "deny 418", answer: deny(&metav1.Status{
			Code: 418, Reason: "Teapot", Message: "m",
			Details: &metav1.StatusDetails{Name: "n", Causes: []metav1.StatusCause{{Message: "c"}}},
		})},
		{name: "deny 403 reason msg", answer: deny(&metav1.Status{Code: 403, Reason: "Forbidden", Message: "m"})},
		{name: "deny Ignore policy", answer: deny(nil), edit: func(h *hook) {
			h.FailurePolicy = &ignore
		}},
	}
}

// patches are those that webhooks may not send, or that can not be applied.
func (s *server) patches() []webhookCase {
	jp := admissionv1.PatchTypeJSONPatch
	bad, empty := admissionv1.PatchType("Foo"), admissionv1.PatchType("")
	return []webhookCase{
		{name: "patch without type", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, nil)},
		{name: "type without patch", answer: patch(``, &jp)},
		{name: "bad patch type", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, &bad), only: "m"},
		{name: "empty patch type", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, &empty), only: "m"},
		{name: "patch not json", answer: patch(`xx`, &jp), only: "m"},
		{name: "patch []", answer: patch(`[]`, &jp), only: "m"},
		{name: "patch object", answer: patch(`{"a":1}`, &jp), only: "m"},
		{name: "patch test fails", answer: patch(`[{"op":"test","path":"/metadata/name","value":"zz"}]`, &jp), only: "m"},
		{name: "patch remove missing", answer: patch(`[{"op":"remove","path":"/metadata/labels/x"}]`, &jp), only: "m"},
		{
			name: "patch add below missing", answer: patch(`[{"op":"add","path":"/metadata/labels/x","value":"y"}]`, &jp),
			only: "m",
		},
		{name: "patch unknown op", answer: patch(`[{"op":"frob","path":"/metadata/labels/x","value":"y"}]`, &jp), only: "m"},
		{name: "patch wrong type", answer: patch(`[{"op":"replace","path":"/spec","value":"y"}]`, &jp), only: "m"},
		{name: "patch unknown field", answer: patch(`[{"op":"add","path":"/spec/foo","value":"y"}]`, &jp), only: "m"},
		{
			name: "patch on DELETE", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, &jp),
			op: admission.Delete, only: "m",
		},
		{name: "empty patch on DELETE", answer: patch(`[]`, &jp), op: admission.Delete, only: "m"},
		{name: "validating with patch", answer: patch(`[]`, nil), only: "v"},
		{name: "validating with patchType", answer: patch(``, &jp), only: "v"},
	}
}

// declarations are what a webhook declares: side effects, and versions of the review.
func (s *server) declarations() []webhookCase {
	some := admreg.SideEffectClassSome
	return []webhookCase{
		{name: "dry run sideEffects Some", answer: ok, dry: true, edit: func(h *hook) {
			h.SideEffects = &some
		}},
		{name: "dry run sideEffects nil", answer: ok, dry: true, edit: func(h *hook) {
			h.SideEffects = nil
		}},
		{name: "dry run Some, Ignore", answer: ok, dry: true, edit: func(h *hook) {
			h.SideEffects = &some
			h.FailurePolicy = &ignore
		}},
		{name: "review versions v2", answer: ok, edit: func(h *hook) {
			h.AdmissionReviewVersions = []string{"v2"}
		}},
		{
			name: "v1beta1 hook, bare answer", answer: raw(200, "application/json", `{"response":{"allowed":true}}`),
			edit: func(h *hook) { h.AdmissionReviewVersions = []string{"v1beta1"} },
		},
		{
			name: "v1beta1 hook, denied",
			answer: raw(
				200, "application/json",
				`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"allowed":false}}`,
			),
			edit: func(h *hook) { h.AdmissionReviewVersions = []string{"v1beta1"} },
		},
	}
}

// conditions decide whether a webhook is called.
func (s *server) conditions() []webhookCase {
	return []webhookCase{
		{name: "condition error Fail", answer: ok, edit: func(h *hook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 'x'"}}
		}},
		{name: "condition 2 errors Fail", answer: ok, edit: func(h *hook) {
			h.MatchConditions = []admreg.MatchCondition{
				{Name: "c", Expression: "object.foo == 'x'"}, {Name: "d", Expression: "object.bar == 'x'"},
			}
		}},
		{name: "condition error generateName", gen: true, answer: ok, edit: func(h *hook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 'x'"}}
		}},
		{name: "condition error Ignore", answer: deny(nil), edit: func(h *hook) {
			h.FailurePolicy = &ignore
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 'x'"}}
		}},
		{name: "condition compile error", answer: ok, edit: func(h *hook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "foo("}}
		}},
		{name: "condition false", answer: deny(nil), edit: func(h *hook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "false"}}
		}},
		{name: "condition uses authorizer", answer: ok, edit: func(h *hook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "namespaceObject == null"}}
		}},
		{name: "condition too costly", answer: ok, edit: func(h *hook) {
			h.MatchConditions = []admreg.MatchCondition{{
				Name:       "c",
				Expression: costly,
			}}
		}},
		{name: "ns selector, ns missing", answer: ok, edit: func(h *hook) {
			h.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}, cluster: true},
	}
}
