package main

import (
	"context"
	"fmt"
)

const (
	// configured is the number of webhooks or policies in a case.
	configured = 10
	// registration is the path of the group of webhook configurations and policies.
	registration = "/apis/admissionregistration.k8s.io/v1/"
)

// configuration is a collection and the body of an object in it, with a placeholder for its name.
type configuration struct{ collection, body string }

var (
	webhooks = []configuration{{"validatingwebhookconfigurations", `{"metadata":{"name":%[1]q},"webhooks":[{
		"name":"h.example.com","clientConfig":{"url":"https://127.0.0.1:1/"},"sideEffects":"None",
		"admissionReviewVersions":["v1"],"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],
		"resources":["pods"]}]}]}`}}
	policies = []configuration{{"validatingadmissionpolicies", `{"metadata":{"name":%[1]q},"spec":{"matchConstraints":{
		"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},
		"validations":[{"expression":"object.metadata.name.startsWith('0') && size(object.data) < 10"}]}}`},
		{"validatingadmissionpolicybindings", `{"metadata":{"name":%[1]q},"spec":{"policyName":%[1]q,
		"validationActions":["Deny"]}}`}}
)

// admissionCase measures creates by one client while ten objects of each configuration exist.
func admissionCase(all []configuration) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		namespace, err := r.namespace(ctx)
		if err != nil {
			return err
		}
		c := r.server.admin
		each := func(do func(name string, of configuration) request) error {
			for i := range configured {
				for _, of := range all {
					if err := c.send(ctx, do(fmt.Sprintf("bench-%d", i), of)); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if err := each(func(name string, of configuration) request {
			return request{method: "POST", path: registration + of.collection, body: fmt.Sprintf(of.body, name)}
		}); err != nil {
			return err
		}
		if err := r.drive(ctx, "", 1, r.bench.size(2000), func(ctx context.Context, i int) error {
			return c.create(ctx, configMaps, namespace, objectName(i), "k", "v")
		}); err != nil {
			return err
		}
		return each(func(name string, of configuration) request {
			return request{method: "DELETE", path: registration + of.collection + "/" + name}
		})
	}
}
