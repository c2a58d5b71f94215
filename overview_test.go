package satchel_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// If the overview leaves out skills, a diagnostic, a line of the log and an event report it,
// once for each state of the catalog. If it shows everything, there is none.
func TestOverviewTellsWhatItLeavesOut(t *testing.T) {
	for n, want := range map[int]string{
		17:  "",
		60:  "of 60 skills, 60 have a shortened description, 0 are listed by name only and 0 are not listed",
		500: "500 skills, ",
		857: "857 skills, ",
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			files := chattest.NewFiles()
			for i := range n {
				name := fmt.Sprintf("skill-of-a-longer-name-%d", i)
				files.Put(name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+strings.Repeat("Reads files of a kind. ", 12)+"\n---\nB\n", time.Time{})
			}
			var log bytes.Buffer
			var events []core.Event
			rt, err := satchel.New(satchel.WithSkillFS("s", files), satchel.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
				satchel.WithEvents(func(_ context.Context, e core.Event) {
					if e.Kind != core.CatalogScanned {
						events = append(events, e)
					}
				}))
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			var told []string
			for _, d := range rt.Diagnostics() {
				if d.Code == satchel.CodeOverview {
					told = append(told, d.Message)
				}
			}
			if want == "" {
				if len(told)+len(events) > 0 || strings.Contains(log.String(), "overview") {
					t.Errorf("%q, %v, %s", told, events, log.String())
				}
				return
			}
			if len(told) != 1 || !strings.Contains(told[0], want) {
				t.Errorf("told %q", told)
			}
			if len(events) != 1 || events[0].Kind != core.OverviewCut || "overview: "+events[0].Detail != told[0] {
				t.Errorf("events %+v", events)
			}
			if strings.Count(log.String(), "level=WARN") != 1 {
				t.Errorf("log %s", log.String())
			}
		})
	}
}

func TestEmptyRootIsTold(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	rt, err := satchel.New(satchel.WithSkillDirs(dir), satchel.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if ds := rt.Diagnostics(); len(ds) != 1 || ds[0].Code != "no-skills" || ds[0].Message != "no skills found in "+dir {
		t.Errorf("diagnostics %v", ds)
	}
	if got := log.String(); !strings.Contains(got, "level=WARN msg=\"no skills found in "+dir) || !strings.Contains(got, "todo=\"put folders with a SKILL.md there") {
		t.Errorf("log %s", log.String())
	}
}
