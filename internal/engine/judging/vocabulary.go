package judging

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/permission"
)

// Kinds of calls beside those of package permission.
const (
	// opaque calls are allowed only by entries without a pattern.
	opaque permission.Kind = 0
	// Inert calls start nothing themselves, so any pattern allows them too.
	Inert = permission.Text + 1
)

// formatTools are the tool names of the format and of agents that read it, with what their
// patterns are compared with.
var formatTools = map[string]permission.Kind{
	"bash": permission.Command, "bashoutput": Inert, "killbash": Inert, "killshell": Inert, "powershell": opaque,
	"read": permission.Path, "write": permission.Path, "edit": permission.Path, "multiedit": permission.Path, "notebookedit": permission.Path, "notebookread": permission.Path,
	"glob": permission.Path, "grep": permission.Path, "ls": permission.Path,
	"webfetch": permission.Text, "websearch": permission.Text,
	"task": permission.Text, "agent": permission.Text, "skill": permission.Text, "slashcommand": permission.Text,
	"todowrite": opaque, "todoread": opaque, "askuserquestion": opaque, "exitplanmode": opaque, "lsp": opaque,
	"taskcreate": opaque, "taskget": opaque, "tasklist": opaque, "taskupdate": opaque, "taskoutput": opaque, "taskstop": opaque,
}

func isFormatTool(name string) bool {
	_, ok := formatTools[strings.ToLower(name)]
	return ok
}

// kindOf returns what the patterns of a name in a list are compared with, if that is known
// without the agent's tools.
func kindOf(name string) permission.Kind {
	name = strings.ToLower(name)
	if kind, ok := formatTools[name]; ok {
		return kind
	}
	for i := range knownTools {
		if t := &knownTools[i]; t.Name == name && len(t.As) > 0 {
			return formatTools[strings.ToLower(t.As[0])]
		}
	}
	return opaque
}

// knownTools are Satchel's tools, and tools of frameworks and many hosts whose arguments are
// known.
var knownTools = []permission.Tool{
	{Name: "skill_run", As: []string{"Bash"}, Takes: permission.Command, Field: "command"},
	{Name: "skill_exec", As: []string{"Bash"}, Takes: permission.Command, Field: "command"},
	// What is written to a session can be anything that its program runs, so no
	// pattern allows it.
	{Name: "skill_write_stdin", As: []string{"Bash"}},
	{Name: "skill_poll_session", As: []string{"Bash", "BashOutput"}, Takes: Inert},
	{Name: "skill_kill_session", As: []string{"Bash", "KillBash", "KillShell"}, Takes: Inert},
	{Name: "skill_update", As: []string{"updateSkill"}, Takes: permission.Text, Field: "skill"},
	{Name: "updateskill", As: []string{"skill_update"}, Takes: permission.Text, Field: "skill"},

	{Name: "transfer_to_agent", Always: true},
	{Name: "exit", Always: true},

	{Name: "bash", Takes: permission.Command, Field: "command", Harmless: []string{"description"}},
	{Name: "shell", As: []string{"Bash"}, Takes: permission.Command, Field: "command", Harmless: []string{"description"}},
	{Name: "execute", As: []string{"Bash"}, Takes: permission.Command, Field: "command", Harmless: []string{"description"}},
	{Name: "read_file", As: []string{"Read"}, Takes: permission.Path, Field: "file_path"},
	{Name: "write_file", As: []string{"Write"}, Takes: permission.Path, Field: "file_path"},
	{Name: "edit_file", As: []string{"Edit", "MultiEdit"}, Takes: permission.Path, Field: "file_path"},
	{Name: "ls", Takes: permission.Path, Field: "path"},
	{Name: "web_search", As: []string{"WebSearch"}},
	{Name: "web_fetch", As: []string{"WebFetch"}, Takes: permission.Text, Field: "url"},
	{Name: "write_todos", As: []string{"TodoWrite"}},
	{Name: "ask_user", As: []string{"AskUserQuestion"}},
	{Name: "task", As: []string{"Agent"}, Takes: permission.Text, Field: "subagent_type"},
}

// similarTools are further names that hosts use for tools of the format. Their arguments are not
// known, so entries with a pattern do not allow them. A host can describe them by
// satchel.Permissions.HostTools.
var similarTools = []struct {
	as    []string
	names string
}{
	{[]string{"Bash"}, `run_command execute_command exec_command exec command cmd run terminal console run_terminal run_in_terminal
		run_terminal_cmd run_terminal_command run_shell run_shell_command shell_command shell_exec execute_shell execute_bash
		run_bash bash_command local_shell powershell sh zsh ssh subprocess
		python python3 python_repl python_interpreter python_exec run_python execute_python python_code python_ast_repl ipython jupyter
		code_interpreter code_execution execute_code run_code code_exec code_runner run_script execute_script repl
		run_javascript javascript execute_javascript sandbox sandbox_exec run_in_sandbox docker_exec container_exec`},
	{[]string{"Read"}, `read file_read read_files read_text_file read_multiple_files view view_file open_file get_file
		get_file_contents file_get load_file cat show_file read_document read_media_file notebook_read`},
	{[]string{"Write"}, `write file_write create_file save_file write_files write_text_file append_file append_to_file put_file
		upload_file new_file delete_file remove_file file_delete move_file rename_file copy_file create_directory make_directory
		mkdir file_manager filesystem`},
	{[]string{"Edit", "MultiEdit"}, `edit file_edit edit_files multi_edit str_replace str_replace_editor str_replace_based_edit_tool
		text_editor apply_patch apply_diff patch_file replace_in_file search_replace insert_edit_into_file modify_file
		update_file file_update`},
	{[]string{"Glob", "LS"}, `glob find_files file_search list_files list_directory list_dir directory_tree file_list`},
	{[]string{"Grep"}, `grep grep_search search_files search_file_content ripgrep rg code_search search_code codebase_search`},
	{[]string{"WebFetch"}, `fetch fetch_url fetch_page url_fetch get_url open_url http http_request http_get http_post http_client
		request_get request_post request_put request_delete requests requests_get requests_post curl wget download download_file
		browse browser browser_use browser_navigate web_browser scrape scrape_url web_scraper web_reader read_url
		visit_page visit_website rest_api api_request`},
	{[]string{"WebSearch"}, `search_web internet_search google_search googlesearch bing_search duckduckgo duckduckgo_search
		ddg_search brave_search brave_web_search tavily tavily_search serpapi serper exa_search searxng`},
	{[]string{"Task", "Agent"}, `agent sub_agent subagent spawn_agent run_agent delegate_task`},
	{[]string{"TodoWrite"}, `todo_write update_todos todo_list`},
	{[]string{"NotebookEdit"}, `notebook_edit edit_notebook edit_notebook_cell`},
	{[]string{"AskUserQuestion"}, `ask_user_question ask_human ask_question ask_followup_question`},
}

// builtinTools returns all tools that are known without a host.
func builtinTools() []permission.Tool {
	all := slices.Clone(knownTools)
	for _, group := range similarTools {
		for name := range strings.FieldsSeq(group.names) {
			all = append(all, permission.Tool{Name: name, As: group.as})
		}
	}
	return all
}
