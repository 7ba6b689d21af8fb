package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// applied is how many objects kubectl applies at once.
const applied = 100

// kubectls are the cases of kubectl, the program at a path.
func kubectls(program string) []workload {
	return []workload{
		{name: fmt.Sprintf("kubectl apply, %d new objects", applied), run: timed(kubectlApply(program, true))},
		{name: fmt.Sprintf("kubectl apply, %d unchanged objects", applied), run: timed(kubectlApply(program, false))},
	}
}

// kubectlApply applies config maps: others each time, or always the same.
func kubectlApply(program string, others bool) operation {
	return func(s *server) (func(context.Context) error, error) {
		run := runNumber.Add(1)
		return func(ctx context.Context) error {
			if others {
				run = runNumber.Add(1)
			}
			var in bytes.Buffer
			for i := range applied {
				o := objectOf(configMaps, random, i)
				o.SetName(fmt.Sprintf("kubectl%d-%d", run, i))
				o.Object["data"] = map[string]any{"k": "v"}
				if err := json.NewEncoder(&in).Encode(o); err != nil {
					return err
				}
			}
			c := exec.CommandContext(ctx, program, "--kubeconfig", s.kubeconfig, "apply", "-f", "-")
			c.Stdin = &in
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		}, nil
	}
}
