// Package ui drives the page of package ui in headless Chromium, with chromedp. CHROMIUM selects another binary than
// chromium.
//
// The tests write screenshots to bin/ui, and compare them loosely with the small ones in testdata. -update writes the
// small ones.
package ui
