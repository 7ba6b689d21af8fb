// Package ui drives the page of package ui in headless Chromium, with chromedp: chromium, or what CHROMIUM
// names.
//
// Screenshots of what the tests look at are kept in bin/ui, and compared loosely with the small ones in testdata;
// -update writes those.
package ui
