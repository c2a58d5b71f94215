package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// completionCmd prints the completions of a shell.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Help is the long help of the command.
func (completionCmd) Help() string {
	return `Load it where your shell starts:
  bash  source <(satchel completion bash)           in ~/.bashrc
  zsh   source <(satchel completion zsh)            in ~/.zshrc, after compinit
  fish  satchel completion fish | source            in ~/.config/fish/config.fish
Values of flags that are files or directories are completed as the shell does.`
}

// Run prints the code.
func (cmd *completionCmd) Run(app *kong.Kong, c cli.Console) error {
	write := map[string]func(io.Writer, []commandEntry) error{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}[cmd.Shell]
	if err := write(c.Out, commandEntries(app.Model.Node, nil)); err != nil {
		return fmt.Errorf("write completion: %w", err)
	}
	return nil
}

// commandEntry is a command with the words that may follow it.
type commandEntry struct {
	path  []string // such as library import
	help  string
	verbs []string // the commands below it, such as those of library
	flags []flagEntry
}

// flagEntry is a flag of a command.
type flagEntry struct {
	name, help string
	values     []string // of an enumeration, else nil
	hasValue   bool
}

// commandEntries returns the visible commands below a node, each before those below it. parents
// are the flags that the commands share.
func commandEntries(node *kong.Node, parents []*kong.Flag) (all []commandEntry) {
	shared := slices.Concat(parents, node.Flags)
	for _, command := range node.Children {
		if command.Hidden {
			continue
		}
		c := commandEntry{path: strings.Fields(command.Path()), help: command.Help}
		for _, verb := range command.Children {
			if !verb.Hidden {
				c.verbs = append(c.verbs, verb.Name)
			}
		}
		flags := slices.Concat(shared, command.Flags)
		if command.DefaultCmd != nil { // its verb may be left out
			flags = append(flags, command.DefaultCmd.Flags...)
		}
		for _, f := range flags {
			entry := flagEntry{name: "--" + f.Name, help: f.Help, hasValue: !f.IsBool()}
			if f.Enum != "" {
				entry.values = f.EnumSlice()
			}
			c.flags = append(c.flags, entry)
		}
		all = append(append(all, c), commandEntries(command, shared)...)
	}
	return all
}

// commandNames returns the first words of all commands.
func commandNames(all []commandEntry) string {
	var names []string
	for _, c := range all {
		if len(c.path) == 1 {
			names = append(names, c.path[0])
		}
	}
	return strings.Join(names, " ")
}

// families returns the commands that have verbs as a pattern of bash and zsh.
func families(all []commandEntry) string {
	var names []string
	for _, c := range all {
		if c.verbs != nil {
			names = append(names, c.path[0])
		}
	}
	return strings.Join(names, "|")
}

// cases returns the cases of a command and the word before the completed one, in bash and zsh. The
// completions are the values of the flag before, or the verbs or the flags of the command.
func cases(all []commandEntry) string {
	var b strings.Builder
	for _, c := range all {
		path := strings.Join(c.path, "/")
		words := c.verbs
		for _, f := range c.flags {
			if f.hasValue {
				fmt.Fprintf(&b, "    %s,%s) words='%s' ;;\n", path, f.name, strings.Join(f.values, " "))
			}
			if c.verbs == nil {
				words = append(words, f.name)
			}
		}
		fmt.Fprintf(&b, "    %s,*) words='%s' ;;\n", path, strings.Join(words, " "))
	}
	return b.String()
}

func completeBash(w io.Writer, all []commandEntry) error {
	_, err := fmt.Fprintf(w, `_satchel() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '%s --help --version' -- "$cur"))
    return
  fi
  case "$command" in
    %s) [ "$COMP_CWORD" -eq 2 ] || command=$command/${COMP_WORDS[2]} ;;
  esac
  case "$command,$prev" in
%s  esac
  case "$cur,$words" in
    -*|*,[!-]*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *) COMPREPLY=() ;;
  esac
}
complete -o default -F _satchel satchel
`, commandNames(all), families(all), cases(all))
	return err
}

func completeZsh(w io.Writer, all []commandEntry) error {
	_, err := fmt.Fprintf(w, `_satchel() {
  local current=${words[CURRENT]} previous=${words[CURRENT-1]} command=${words[2]} verb=${words[3]}
  if (( CURRENT == 2 )); then
    compadd -- %s --help --version
    return
  fi
  case "$command" in
    %s) (( CURRENT == 3 )) || command=$command/$verb ;;
  esac
  local words=
  case "$command,$previous" in
%s  esac
  if [[ "$current" == -* || ( -n "$words" && "$words" != -* ) ]]; then
    compadd -- ${=words}
  else
    _files
  fi
}
compdef _satchel satchel
`, commandNames(all), families(all), cases(all))
	return err
}

func completeFish(w io.Writer, all []commandEntry) error {
	var b strings.Builder
	for _, c := range all {
		name := c.path[len(c.path)-1]
		begins, seen := "__fish_use_subcommand", "'__fish_seen_subcommand_from "+c.path[0]
		if len(c.path) > 1 {
			begins = seen + "; and not __fish_seen_subcommand_from " + verbsOf(all, c.path[0]) + "'"
			seen += "; and __fish_seen_subcommand_from " + name
		}
		seen += "'"
		fmt.Fprintf(&b, "complete -c satchel -n %s -f -a %s -d %s\n", begins, name, quoteFish(c.help))
		if c.verbs != nil {
			continue
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c satchel -n %s -l %s", seen, strings.TrimPrefix(f.name, "--"))
			switch {
			case f.values != nil:
				fmt.Fprintf(&b, " -x -a %s", quoteFish(strings.Join(f.values, " ")))
			case f.hasValue:
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d %s\n", quoteFish(cli.Shorten(f.help, maxFlagHelp)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verbsOf returns the verbs of a command, with spaces between.
func verbsOf(all []commandEntry, name string) string {
	for _, c := range all {
		if len(c.path) == 1 && c.path[0] == name {
			return strings.Join(c.verbs, " ")
		}
	}
	return ""
}

// quoteFish returns text as one word of fish.
func quoteFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
