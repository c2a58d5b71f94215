package random

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/satchel-go/satchel/internal/text/search"
)

// described is a skill with the description of a real one.
type described struct{ name, description string }

// catalog has the five skills of the benchmark and fifteen like those that companies write.
var catalog = []described{
	{"customer-replies", "Answers mails and tickets of customers in the voice of the company. Use it for complaints, refunds, questions about orders or accounts, cancellations and for whatever goes out to a person who pays us."},
	{"http-api", "The house rules for HTTP APIs - resources, names, status codes, errors, pages, versions and keys that make retries safe. Use it to design, review or document an endpoint, or to decide whether a change breaks clients."},
	{"incident-review", "Writes the review of an outage or a near miss, from the alert to the actions that prevent the next one. Use it for postmortems, root causes, timelines of incidents and the mail to those who were affected."},
	{"schema-changes", "Plans and writes changes of a PostgreSQL schema that run while the service is up. Use it for migrations, new columns or indexes, backfills, renames, constraints, and whenever somebody asks whether a change will lock a table."},
	{"sheet-audit", "Checks spreadsheets for faults before anybody decides by them - broken formulas, mixed units, hidden rows, sums that do not add up. Use it for budgets, forecasts, price lists, exports and any table with formulas."},
	{"pdf", "Use this skill whenever a PDF is involved: extracting text and tables, merging and splitting files, rotating pages, watermarks, filling in forms, encryption and OCR of scans."},
	{"slides", "Creates and edits presentations in PowerPoint. Covers layouts, speaker notes, templates, charts and thumbnails. Use it for pitch decks, handouts or any .pptx file."},
	{"word-documents", "Reads and writes Word documents with tracked changes, comments, letterheads, footnotes and tables of contents. Use it for reports, memos and letters that others will edit."},
	{"brand-style", "Applies the colors, fonts and logo of the company to whatever the outside sees. Use it when typography, palettes or visual guidelines matter."},
	{"browser-tests", "Drives a browser with Playwright against a local web application: clicks, screenshots, console logs, accessibility. Use it to verify the frontend or to debug its behavior."},
	{"hiring", "Prepares interviews and what surrounds them: job adverts, scorecards, take-home exercises, offers, rejections of applicants. Use it for anything about candidates."},
	{"contracts", "Reads agreements with suppliers: liability, termination, renewal, confidentiality, penalties. Use it for NDAs and terms, and to compare a draft with our standard clauses."},
	{"travel", "Books trips and settles expenses: flights, hotels, mileage, receipts, per diem. Use it before anybody travels and when the reimbursement is due."},
	{"warehouse-queries", "Writes SQL for the data warehouse: cohorts, funnels, retention, joins over events, dashboards in Looker. Use it when someone wants a metric or doubts one."},
	{"access-control", "Grants and reviews permissions: roles, groups, single sign-on, onboarding and offboarding of staff. Use it for audits and for lost passwords."},
	{"translations", "Translates the interface and help articles. Keeps the glossary, plurals, placeholders and the tone of each locale. Use it for German, French, Spanish and Japanese."},
	{"newsletter", "Helps with internal communications: newsletter items, announcements, leadership updates, FAQ answers, 3P reports. Use it for anything that all colleagues receive."},
	{"kubernetes", "Writes and repairs manifests: deployments, probes, ingress, quotas, rollouts, Helm values. Use it when pods restart or a cluster is upgraded."},
	{"invoices", "Issues invoices and reminders, with VAT, discounts, credit memos, currencies and payment terms. Use it for billing and for overdue debtors."},
	{"animated-gifs", "Knowledge and utilities for animated GIFs in Slack: dimensions, frames, easing, emoji size, validation. Use it when somebody wants an animation."},
}

// plain are words of descriptions that are no subject of a message.
var plain = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`add adds affected any anybody anyone applies asks before behavior both breaks brings broken checks compare
		covers creates decide decides doubts drives due each edits else filling goes helps involved issues keep keeps lists
		lock lost made matter mixed near next one out outside over person prepares receive reads repairs runs safe settles
		home house knowledge others per rules sign whether single somebody someone standard surrounds take that up us visual wants whatever whenever while writes`) {
		set[word] = true
	}
	return set
}()

// telling returns, for each skill of the catalog, the words of its description that at most two
// descriptions have.
var telling = sync.OnceValue(func() [][]string {
	of := map[string]int{}
	for _, d := range catalog {
		for _, term := range search.Subjects(d.name + " " + d.description) {
			of[term]++
		}
	}
	words := make([][]string, len(catalog))
	for i, d := range catalog {
		for _, word := range strings.FieldsFunc(d.description, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			terms := search.Subjects(word)
			if len(terms) == 1 && of[terms[0]] <= 2 && !plain[strings.ToLower(word)] && !slices.Contains(words[i], word) {
				words[i] = append(words[i], word)
			}
		}
	}
	return words
})

// cataloged gives the agent n skills of the catalog, in random order.
func (m *maker) cataloged(n int) {
	for _, i := range m.Perm(len(catalog))[:n] {
		s := Skill{Name: catalog[i].name, Description: catalog[i].description, telling: telling()[i], Body: bodySizes.draw(m.Rand)}
		for range m.IntN(4) {
			s.Docs = append(s.Docs, docSizes.draw(m.Rand))
		}
		m.plan.Skills = append(m.plan.Skills, s)
	}
}
