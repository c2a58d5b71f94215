package eino

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
)

// laterConfig is the form that the configuration has in later versions.
type laterConfig struct {
	Model               model.BaseChatModel
	ModelFailoverConfig *laterFailover
}

type laterFailover struct {
	MaxRetries       uint
	GetFailoverModel func(context.Context, *laterContext) (model.BaseChatModel, []*schema.Message, error)
}

type laterContext struct{ FailoverAttempt uint }

type backup struct{ model.BaseChatModel }

func TestFailoverModelsHaveSkills(t *testing.T) {
	a := failoverAdapter(t)
	refused := errors.New("none left")
	host := &laterFailover{MaxRetries: 7, GetFailoverModel: func(_ context.Context, c *laterContext) (model.BaseChatModel, []*schema.Message, error) {
		switch c.FailoverAttempt {
		case 1:
			return &backup{}, []*schema.Message{schema.UserMessage("shorter")}, nil
		case 2:
			return nil, nil, refused
		}
		wrapped, err := a.Model(&backup{})
		return wrapped, nil, err
	}}
	cfg := &laterConfig{ModelFailoverConfig: host}
	set, err := a.failover(cfg)
	if err != nil || cfg.ModelFailoverConfig != host {
		t.Fatalf("got %v, and the configuration was changed too early", err)
	}
	set()
	got := cfg.ModelFailoverConfig
	if got == host || got.MaxRetries != 7 {
		t.Fatalf("got %+v, want a copy of the host's", got)
	}
	m, messages, err := got.GetFailoverModel(t.Context(), &laterContext{1})
	if w, ok := m.(*viewModel); !ok || w.adapter != a || len(messages) != 1 || err != nil {
		t.Errorf("got %T, %v, %v, want a wrapped model and the host's messages", m, messages, err)
	}
	if m, _, err := got.GetFailoverModel(t.Context(), &laterContext{2}); m != nil || !errors.Is(err, refused) {
		t.Errorf("got %v, %v, want the host's error", m, err)
	}
	m, _, _ = got.GetFailoverModel(t.Context(), &laterContext{3})
	if w, ok := m.(*viewModel); !ok || !isBackup(w.inner) {
		t.Errorf("got %T, want the host's wrapped model", m)
	}
	if m, _, _ := host.GetFailoverModel(t.Context(), &laterContext{1}); !isBackup(m) {
		t.Errorf("the host's own function returns %T now", m)
	}
}

func isBackup(m model.BaseChatModel) bool {
	_, ok := m.(*backup)
	return ok
}

func TestFailoverForms(t *testing.T) {
	a := failoverAdapter(t)
	for name, tt := range map[string]struct {
		cfg  any
		want error
	}{
		"no such field":    {&struct{ Name string }{"a"}, nil},
		"not used":         {&laterConfig{}, nil},
		"no function":      {&laterConfig{ModelFailoverConfig: &laterFailover{}}, nil},
		"not a struct":     {&struct{ ModelFailoverConfig *int }{new(int)}, errFailover},
		"not a pointer":    {&struct{ ModelFailoverConfig laterFailover }{laterFailover{MaxRetries: 1}}, errFailover},
		"no such function": {&struct{ ModelFailoverConfig *laterContext }{&laterContext{}}, errFailover},
		"returns no model": {&struct {
			ModelFailoverConfig *struct{ GetFailoverModel func() int }
		}{&struct{ GetFailoverModel func() int }{}}, errFailover},
		"returns nothing": {&struct {
			ModelFailoverConfig *struct{ GetFailoverModel func() }
		}{&struct{ GetFailoverModel func() }{}}, errFailover},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := a.failover(tt.cfg)
			if !errors.Is(err, tt.want) || (set == nil) != (tt.want != nil) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if set != nil {
				set()
			}
		})
	}
}

func failoverAdapter(t *testing.T) *Adapter {
	t.Helper()
	rt, err := satchel.New(satchel.WithSkillFS("test", fstest.MapFS{}))
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(rt)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
