package ui

import "testing"

// TestFirstScreen: the example of the README, as the page shows it at first, light and dark.
func TestFirstScreen(t *testing.T) {
	s := serve(t)
	s.example()
	p := open(t, s.URL+"/ui/")
	p.says("#status", "live")
	p.until(`window.kubecascade.drawn() === 4`)
	p.says("#problems", "none")
	p.says("#kinds", "ReplicaSet")
	p.says("#log", "created")
	p.looks("first")
	p.click("#theme")
	p.until(`document.documentElement.dataset.theme === "dark"`)
	p.looks("dark")
}
