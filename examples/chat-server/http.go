package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
)

// maxText and maxUpload bound in bytes what a request may bring.
const maxText, maxUpload = 64 << 10, 16 << 20

var chatName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// routes returns the handler of the server. The token of a request decides the tenant, so no tenant
// can name a conversation or a file of another.
func routes(tenants map[string]*tenant) http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range map[string]func(*tenant, http.ResponseWriter, *http.Request){
		"POST /chats/{chat}/messages":       (*tenant).message,
		"PUT /chats/{chat}/files/{name...}": (*tenant).upload,
		"GET /chats/{chat}/files/{name...}": (*tenant).download,
		"DELETE /chats/{chat}":              (*tenant).end,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			t := tenants[token]
			switch {
			case t == nil:
				http.Error(w, "who are you?", http.StatusUnauthorized)
			case !chatName.MatchString(r.PathValue("chat")):
				http.Error(w, "a conversation is named by letters, digits and hyphens", http.StatusBadRequest)
			default:
				serve(t, w, r)
			}
		})
	}
	return mux
}

// message answers a text with events: text, and done or error at the end.
func (t *tenant) message(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxText))
	if err != nil {
		http.Error(w, "the message is too long", http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event, data string) {
		encoded, _ := json.Marshal(data) // a string always encodes
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, encoded)
		_ = http.NewResponseController(w).Flush()
	}
	err = t.turn(r.Context(), r.PathValue("chat"), string(text), func(piece string) { send("text", piece) })
	switch {
	case errors.Is(err, errBusy):
		send("error", err.Error())
	case err != nil:
		log.Print("turn: ", err) // what a provider says is not for users
		send("error", "the turn failed; send the message again")
	default:
		send("done", "")
	}
}

// upload stores a file of the user below uploads/, where the runner saves no files. The next message
// of the conversation announces it to the model.
func (t *tenant) upload(w http.ResponseWriter, r *http.Request) {
	// snippet: upload
	info, err := t.files.Save(r.Context(), r.PathValue("chat"), uploaded+r.PathValue("name"),
		r.Header.Get("Content-Type"), r.Body, maxUpload)
	// end snippet
	if err != nil {
		log.Print("upload: ", err)
		http.Error(w, "the file was not taken", http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, artifacts.Ref{Name: info.Name, Version: info.Version})
}

// download sends the newest version of a file, uploaded or made by a skill.
func (t *tenant) download(w http.ResponseWriter, r *http.Request) {
	file, info, err := t.files.Open(r.Context(), r.PathValue("chat"), artifacts.Ref{Name: r.PathValue("name"), Version: -1})
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", info.MIME)
	w.Header().Set("Content-Disposition", "attachment") // a browser must not run what a skill made
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.Copy(w, file)
}

// end ends a conversation; its files stay.
func (t *tenant) end(w http.ResponseWriter, r *http.Request) {
	chat := r.PathValue("chat")
	if _, runs := t.busy.LoadOrStore(chat, true); runs {
		http.Error(w, errBusy.Error(), http.StatusConflict)
		return
	}
	defer t.busy.Delete(chat)
	// snippet: end
	err := t.skills.EndSession(r.Context(), chat)
	// end snippet
	if err != nil {
		log.Print("end: ", err)
		http.Error(w, "try again", http.StatusInternalServerError)
	}
}
