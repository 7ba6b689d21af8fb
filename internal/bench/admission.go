package main

import (
	"context"
	"fmt"
	"net/http"
)

const (
	// configured is the number of webhooks, or of policies, of a case.
	configured = 10
	configPath = "/apis/admissionregistration.k8s.io/v1/"
)

// admission is creates without configurations of admission, with webhooks that do not match, and with policies that
// do. The cases are run in turn.
func (b *bench) admission(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		cases := []struct {
			what    string
			objects [][2]string // a collection and an object
		}{
			{what: "create, no admission"},
			{what: fmt.Sprintf("create, %d webhooks that do not match", configured), objects: webhooks()},
			{what: fmt.Sprintf("create, %d policies that match", configured), objects: policies()},
		}
		found := make([][]measured, len(cases))
		for range max(b.runs, 3) {
			for i, c := range cases {
				m, err := b.admitted(ctx, t, c.objects)
				if err != nil {
					return err
				}
				found[i] = append(found[i], m)
			}
		}
		for i, c := range cases {
			rows = append(rows, rowsOf(c.what, found[i]))
		}
		return nil
	})
}

// admitted measures creates while the objects exist, and deletes everything.
func (b *bench) admitted(ctx context.Context, t *target, objects [][2]string) (m measured, err error) {
	setup := func(method, path, body string) error {
		_, err := t.once(ctx, method, path, asJSON, []byte(body))
		return err
	}
	for i, o := range objects {
		body := fmt.Sprintf(o[1], fmt.Sprintf("bench-%d", i/(len(objects)/configured)))
		if err := setup(http.MethodPost, configPath+o[0], body); err != nil {
			return m, err
		}
	}
	url := t.path("configmaps")
	m, err = t.drive(ctx, 1, b.objects/5, func(c *conn, i int) error {
		_, err := c.do(http.MethodPost, url, asJSON, fmt.Appendf(nil, `{"metadata":{"name":"a%d"},"data":{"k":"v"}}`, i))
		return err
	})
	if err != nil {
		return m, err
	}
	for i, o := range objects {
		name := fmt.Sprintf("/bench-%d", i/(len(objects)/configured))
		if err := setup(http.MethodDelete, configPath+o[0]+name, ""); err != nil {
			return m, err
		}
	}
	return m, setup(http.MethodDelete, url, "")
}

const rule = `"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":[%q]`

// webhooks are configurations whose rules do not match config maps.
func webhooks() (objects [][2]string) {
	for range configured {
		objects = append(objects, [2]string{"validatingwebhookconfigurations", `{"metadata":{"name":"%[1]s"},"webhooks":[{` +
			`"name":"h.example.com","clientConfig":{"url":"https://127.0.0.1:1/"},"rules":[{` + fmt.Sprintf(rule, "pods") +
			`}],"sideEffects":"None","admissionReviewVersions":["v1"]}]}`})
	}
	return objects
}

// policies are policies that config maps meet, each with its binding.
func policies() (objects [][2]string) {
	for range configured {
		objects = append(objects, [2]string{"validatingadmissionpolicies", `{"metadata":{"name":"%[1]s"},"spec":{` +
			`"matchConstraints":{"resourceRules":[{` + fmt.Sprintf(rule, "configmaps") + `}]},"validations":[{"expression":` +
			`"object.metadata.name.startsWith('a') && size(object.data) < 10"}]}}`}, [2]string{
			"validatingadmissionpolicybindings", `{"metadata":{"name":"%[1]s"},"spec":{"policyName":"%[1]s",` +
				`"validationActions":["Deny"]}}`,
		})
	}
	return objects
}
