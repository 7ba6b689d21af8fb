package ui

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSecurePortRequiresAToken: the secure port requires a token, both if anonymous users have no permissions and if
// they are not allowed. The page then has the permissions of the token's user, and keeps the token only in memory.
func TestSecurePortRequiresAToken(t *testing.T) {
	for name, flags := range map[string][]string{
		"anonymous": {"--authorization-mode=RBAC"}, "authenticated": {"--authorization-mode=RBAC", "--anonymous-auth=false"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, flags...)
			signIn(t, s)
		})
	}
}

// TestOneNamespace: a user with permissions in only one namespace can choose it. This choice does not look like
// removals.
func TestOneNamespace(t *testing.T) {
	const rbac, away = "/apis/rbac.authorization.k8s.io/v1/", "/api/v1/namespaces/away/"
	s := serve(t, "--authorization-mode=RBAC")
	s.create("/api/v1/namespaces", "away", "")
	top := s.create(away+"configmaps", "top", "")
	s.create(away+"configmaps", "below", owned("top", top))
	s.create(away+"serviceaccounts", "reader", "")
	const subject = `"subjects":[{"kind":"ServiceAccount","namespace":"away","name":"reader"}]}`
	s.send("POST", rbac+"clusterroles", `{"metadata":{"name":"page"},"rules":[
		{"nonResourceURLs":["/kubecascade/v1/*"],"verbs":["get"]}]}`)
	s.send("POST", rbac+"clusterrolebindings", `{"metadata":{"name":"page"},"roleRef":{
		"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"page"},`+subject)
	s.send("POST", rbac+"namespaces/away/rolebindings", `{"metadata":{"name":"edit"},"roleRef":{
		"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},`+subject)
	o := s.send("POST", away+"serviceaccounts/reader/token", `{"spec":{"expirationSeconds":3600}}`)

	p := openSecure(t, s.Secure+"/ui/")
	p.says("#signin", "Bearer token")
	p.run(chromedp.SendKeys("#answer", o["status"].(map[string]any)["token"].(string)+"\r", chromedp.ByQuery))
	p.says("#status", "live")
	p.says("#hidden", "not shown")
	p.click("#one")
	p.says("#signin", "Choose a namespace")
	p.run(chromedp.SendKeys("#answer", "away", chromedp.ByQuery))
	p.click("#answer-ok")
	p.until(`window.kubecascade.drawn() === 2`)
	p.choose(top)
	p.tab("Preview and delete")
	p.until(`!document.querySelector("#delete").disabled`)
	p.run(chromedp.SetValue("#namespace", "", chromedp.ByQuery), dispatch("#namespace", "change"))
	p.until(`window.kubecascade.drawn() === 0`)
	if said := eval[string](p, `document.querySelector("#log").innerText`); strings.Contains(said, "removed") {
		t.Errorf("objects that are not shown any more are said to be removed: %s", said)
	}
}

func signIn(t *testing.T, s *server) {
	const rbac = "/apis/rbac.authorization.k8s.io/v1/"
	top := s.create(configMaps, "top", "")
	s.create(configMaps, "below", owned("top", top))
	s.create("/api/v1/namespaces/default/serviceaccounts", "reader", "")
	s.send("POST", rbac+"clusterroles", `{"metadata":{"name":"reader"},"rules":[
		{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]},
		{"nonResourceURLs":["/kubecascade/v1/*"],"verbs":["get"]}]}`)
	s.send("POST", rbac+"clusterrolebindings", `{"metadata":{"name":"reader"},"roleRef":{
		"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"reader"},
		"subjects":[{"kind":"ServiceAccount","namespace":"default","name":"reader"}]}`)
	o := s.send("POST", "/api/v1/namespaces/default/serviceaccounts/reader/token", `{"spec":{"expirationSeconds":3600}}`)
	token := o["status"].(map[string]any)["token"].(string)

	p := openSecure(t, s.Secure+"/ui/")
	p.token = token
	p.says("#signin", "Bearer token")
	p.run(chromedp.SendKeys("#answer", "nonsense", chromedp.ByQuery))
	p.click("#answer-ok")
	p.until(`document.querySelector("#answer").value === "" && document.querySelector("#signin").open`)
	p.says("#signin", "Unauthorized")
	p.run(chromedp.SendKeys("#answer", token+"\r", chromedp.ByQuery))
	p.says("#status", "live")
	p.until(`!document.querySelector("#signin").open && window.kubecascade.drawn() === 2`)
	p.says("#kinds", "ConfigMap")
	if eval[bool](p, `document.querySelector("#kinds").innerText.includes("Secret")`) {
		t.Error("the page has Secrets, which the user may not list")
	}
	p.says("#hidden", "not shown")
	p.choose(top)
	p.tab("Preview and delete")
	p.says("#tab", "You may not delete this object.")
	p.until(`document.querySelector("#delete").disabled`)
	s.create(configMaps, "later", owned("top", top))
	p.until(`window.kubecascade.drawn() === 3`)
	kept := `location.href.includes("?") || document.cookie !== "" || localStorage.length + sessionStorage.length > 0`
	if eval[bool](p, kept) {
		t.Error("the page stores something")
	}
	// A reloaded page does not have the token.
	p.run(chromedp.Reload())
	p.says("#signin", "Bearer token")
}
