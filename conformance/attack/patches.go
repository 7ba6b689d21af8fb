package attack

import (
	"context"
	"strings"
	"time"
)

// patches are small and make much of an object.
func patches() []Attack {
	const path = things + "/t?dryRun=All"
	setup := func(ctx context.Context, t *Target) error {
		if err := t.define(ctx, anything); err != nil {
			return err
		}
		c := t.client(admin, false)
		defer c.close()
		return c.make(ctx, things, thing(`["x"]`))
	}
	patch := func(body string) func() Request {
		return func() Request {
			return Request{
				Method: "PATCH", Path: path, Body: []byte(`[` + body + `]`), Media: "application/json-patch+json",
			}
		}
	}
	// numbers puts a million items into the list.
	numbers := func() string {
		return `{"op":"add","path":"/list","value":[` + strings.Repeat("0,", 999_999) + `0]},`
	}
	remove := func(int) string { return `{"op":"remove","path":"/list/0"}` }
	return []Attack{
		{
			Group: "patches", Name: "removals", Answers: 1, For: 12 * time.Second,
			Does:  "Puts a million items into an object's list and removes the first 9,990 times, with one JSON patch.",
			Setup: setup,
			Run: func(ctx context.Context, a *Attacker) error {
				return again(4, attacker, patch(numbers()+items(9990, remove)))(ctx, a)
			},
		},
		{
			Group: "patches", Name: "hang-up", For: 12 * time.Second,
			Does:  "Does the same, and hangs up after half a second each time.",
			Setup: setup,
			Run: func(ctx context.Context, a *Attacker) error {
				r := patch(numbers() + items(9990, remove))()
				c := a.client(attacker, false)
				defer c.close()
				for ctx.Err() == nil {
					short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
					answer, err := c.send(short, r)
					cancel()
					a.count(ctx, answer.Code, err)
				}
				return nil
			},
		},
		{
			Group: "patches", Name: "copies", Answers: 2,
			Does:  "Copies an object's list into itself 40 times with one JSON patch, which doubles it each time.",
			Setup: setup,
			Run: again(4, attacker, patch(items(40, func(int) string {
				return `{"op":"copy","from":"/list","path":"/list/0"}`
			}))),
		},
		{
			Group: "patches", Name: "additions", Answers: 1,
			Does:  "Adds 9,990 items in front of a list of a million, with one JSON patch.",
			Setup: setup,
			Run: func(ctx context.Context, a *Attacker) error {
				return again(4, attacker, patch(numbers()+
					items(9990, func(int) string { return `{"op":"add","path":"/list/0","value":0}` })))(ctx, a)
			},
		},
	}
}
