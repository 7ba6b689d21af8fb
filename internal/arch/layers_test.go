package arch

import (
	"strings"
	"testing"
)

// layers are the packages of the server, the highest first. Each imports only packages of rows below its own.
var layers = [][]string{
	{"apiserver/apiservertest"},                  // servers for tests
	{"apiserver"},                                // assembly and routes
	{"apiserver/endpoints", "apiserver/filters"}, // the verbs over HTTP; what wraps every handler
	{"apiserver/bootstrap", "apiserver/render", "apiserver/requestinfo"}, // a new cluster; responses; paths and queries
	{"apiserver/metrics"},           // what Prometheus collects
	{"apiserver/registry"},          // requests for objects, carried out
	{"apiserver/flowcontrol"},       // what requests wait for
	{"apiserver/codec"},             // bodies and stored values
	{"apiserver/status"},            // from errors to Statuses for clients
	{"apiserver/admission/dynamic"}, // webhooks and policies
	{"apiserver/admission", "apiserver/fieldmanager", "apiserver/customresource", "apiserver/discovery"},
	{"apiserver/admission/webhook"},
	{"apiserver/webhook"},
	{"apiserver/resources"}, // the table of types
	{ // built-in kinds, by group
		"apiserver/resources/admissionregistration", "apiserver/resources/apps",
		"apiserver/resources/authorization", "apiserver/resources/autoscaling", "apiserver/resources/batch",
		"apiserver/resources/certificates", "apiserver/resources/core",
		"apiserver/resources/dra", "apiserver/resources/flowcontrol", "apiserver/resources/networking",
		"apiserver/resources/rbac", "apiserver/resources/storage",
	},
	{ // what groups share
		"apiserver/resources/internal/podspec",
	},
	{ // generated from the types
		"apiserver/resources/internal/declared", "apiserver/resources/internal/declared/autoscaling",
		"apiserver/resources/internal/declared/discovery", "apiserver/resources/internal/declared/node",
	},
	{"apiserver/resources/internal/declared/core", "apiserver/resources/internal/declared/scheduling"},
	{"apiserver/resources/internal/declared/meta"},
	{"apiserver/resources/internal/check"},
	{"apiserver/resources/entry"},
	{"apiserver/authorization/rbac", "apiserver/openapi", "apiserver/expression"},
	{"apiserver/aggregator", "apiserver/allocate", "apiserver/invalid", "apiserver/openapi/markers", "apiserver/pki"},
	{"apiserver/audit", "apiserver/authentication", "apiserver/proxy"},
	{"apiserver/authorization"},
}

// tools are packages below apiserver that aren't part of it: only tests import them.
var tools = map[string]bool{
	"apiserver/resources/kindtest": true, "apiserver/resources/kindtest/declarative": true,
	"apiserver/webhook/webhooktest": true, "apiserver/objecttest": true,
}

// TestImportsGoDown: no import of a package below apiserver goes up or sideways, and each has its row.
func TestImportsGoDown(t *testing.T) {
	rows := map[string]int{}
	for i, row := range layers {
		for _, name := range row {
			rows[name] = i
		}
	}
	found := 0
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		if !below(from, "apiserver") || tools[from] {
			continue
		}
		row, ok := rows[from]
		if !ok {
			t.Errorf("%s has no row", from)
			continue
		}
		found++
		for _, path := range p.Imports {
			to := strings.TrimPrefix(path, module+"/")
			if lower, ok := rows[to]; ok && lower <= row {
				t.Errorf("%s imports %s, which is not below it", from, to)
			}
		}
	}
	if found != len(rows) {
		t.Errorf("%d of %d packages were found", found, len(rows))
	}
}
