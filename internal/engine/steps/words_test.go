package steps

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// findNamed finds the skills of a small catalog by their names.
func findNamed(name string) (string, bool) {
	names := []string{"pdf", "docx", "xlsx", "pdf-forms", "review", "slide-making-skill", "user:pdf", "v1.2-notes", "发票", "合同", "報告書", "mcp-builder", "test"}
	name = strings.ToLower(name)
	return name, slices.Contains(names, name)
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ text, named, denied string }{
		// English
		{"use the pdf skill", "pdf", ""},
		{"With skill pdf, merge these", "pdf", ""},
		{"the docx skill", "docx", ""},
		{"Docx skill: rewrite this letter", "docx", ""},
		{"Rewrite it. The DOCX Skill knows how.", "docx", ""},
		{"use the \"pdf\" skill", "pdf", ""},
		{"use the 'pdf' skill", "pdf", ""},
		{"use the “pdf” skill", "pdf", ""},
		{"use the **pdf** skill", "pdf", ""},
		{"use the **pdf skill**", "pdf", ""},
		{"use the _pdf_ skill", "pdf", ""},
		{"use the `pdf` skill", "pdf", ""},
		{"use skill `pdf` for it", "pdf", ""},
		{"follow the pdf skill's rules", "pdf", ""},
		{"follow the pdf skill’s rules", "pdf", ""},
		{"skill pdf's rules apply", "pdf", ""},
		{"use the pdf forms skill", "pdf-forms", ""},
		{"use the pdf-forms skill", "pdf-forms", ""},
		{"use the mcp builder skill please", "mcp-builder", ""},
		{"the pdf and docx skills", "pdf docx", ""},
		{"use the pdf and the docx skill", "docx", ""},
		{"use both the pdf skill and the docx skill", "pdf docx", ""},
		{"use the pdf, docx, and xlsx skills", "pdf docx xlsx", ""},
		{"use the pdf, docx & xlsx skills", "pdf docx xlsx", ""},
		{"use the pdf/docx skills", "pdf docx", ""},
		{"the skills pdf and docx", "pdf docx", ""},
		{"Skills: pdf, docx", "pdf docx", ""},
		{"skill: pdf", "pdf", ""},
		{"skill:pdf", "pdf", ""},
		{"the skill called pdf", "pdf", ""},
		{"a skill named \"pdf\" is what you should use", "", ""},
		{"use a skill named pdf", "pdf", ""},
		{"use skill user:pdf", "user:pdf", ""},
		{"use the v1.2-notes skill.", "v1.2-notes", ""},
		{"use the slide making skill", "slide-making-skill", ""},
		{"use the slide-making-skill", "slide-making-skill", ""},
		{"use your pdf skill", "pdf", ""},
		{"use my pdf skill", "pdf", ""},
		{"use a pdf skill for this", "pdf", ""},
		{"use the pdf skills", "pdf", ""},
		{"use skill pdf and review it", "pdf", ""},
		{"use skill pdf and docx", "pdf docx", ""},
		{"don't forget to use the pdf skill", "pdf", ""},
		{"Don't worry, use the pdf skill", "pdf", ""},
		{"It does not open, so use the pdf skill", "pdf", ""},
		{"don't ask and use the pdf skill", "pdf", ""},
		{"why don't you use the pdf skill?", "pdf", ""},
		{"remove the first page with the pdf skill", "pdf", ""},
		{"without losing the layout use the docx skill", "docx", ""},
		{"sign the pages that are not signed with the pdf skill", "pdf", ""},
		{"use not only the pdf skill", "pdf", ""},
		{"use the pdf skill if the file is not encrypted", "pdf", ""},
		{"Use the pdf skill, not the docx skill", "pdf", "docx"},
		{"not the docx skill but the pdf skill", "pdf", "docx"},
		{"don't use the pdf skill", "", "pdf"},
		{"don't, under any circumstances, use the pdf skill", "", "pdf"},
		{"please do not, ever, use the pdf skill", "", "pdf"},
		{"never, ever use the pdf skill", "", "pdf"},
		{"please don't, use the pdf skill instead", "pdf", ""},
		{"it is not, as you know, big, use the pdf skill", "pdf", ""},
		{"Please do not use the pdf skill", "", "pdf"},
		{"don’t use the pdf skill", "", "pdf"},
		{"dont use the `pdf` skill", "", "pdf"},
		{"never use the pdf skill", "", "pdf"},
		{"do this without the pdf skill", "", "pdf"},
		{"do this without using the pdf skill", "", "pdf"},
		{"instead of the pdf skill take pdftk", "", "pdf"},
		{"use pdftk rather than the pdf skill", "", "pdf"},
		{"skip the pdf skill this time", "", "pdf"},
		{"I don't want you to use the pdf skill", "", "pdf"},
		{"you should not use the pdf skill here", "", "pdf"},
		{"do not use the pdf and docx skills", "", "pdf docx"},
		{"do not use the pdf, docx or xlsx skills", "", "pdf docx xlsx"},
		{"don't use the pdf skill or the docx skill", "", "pdf docx"},
		{"do not do this with the pdf skill", "", "pdf"},
		{"the pdf skill is not needed", "", "pdf"},
		{"no pdf skill please", "", "pdf"},
		{"unload the pdf skill", "", "pdf"},
		{"don't use the pdf skill and use the docx skill", "docx", "pdf"},
		{"my pdf skills", "", ""},
		{"how do I improve my pdf skills?", "", ""},
		{"use my pdf skills", "", ""},
		{"write a pdf skill", "", ""},
		{"create a new pdf skill", "", ""},
		{"is there a docx skill?", "", ""},
		{"what skills do you have?", "", ""},
		{"which skill is best for this?", "", ""},
		{"pdf skills are rare", "", ""},
		{"use the pdf", "", ""},
		{"use the tiff skill", "", ""},
		{"skilled pdf people", "", ""},
		{"see .claude/skills/pdf/SKILL.md", "", ""},
		{"`use the pdf skill`", "", ""},
		{"```\nuse the pdf skill\n```", "", ""},
		{"~~~text\nuse the pdf skill\n~~~\nthe docx skill", "docx", ""},
		{"Log:\n\n    use the pdf skill\n", "", ""},
		{"> ```\n> use the pdf skill\n> ```", "", ""},
		{"> > ~~~\n> > use the pdf skill\n> > ~~~\nuse the docx skill", "docx", ""},
		{">     use the pdf skill", "", ""},
		{"- ```\n  use the pdf skill\n  ```", "", ""},
		{"1. ```\n   use the pdf skill\n   ```\n2. use the docx skill", "docx", ""},
		{"<code>use the pdf skill</code>", "", ""},
		{"<pre>use the pdf skill</pre>", "", ""},
		{"<pre><code>\nuse the pdf skill\n</code></pre>\nuse the docx skill", "docx", ""},
		{"use the <code>pdf</code> skill", "pdf", ""},
		{"> use the pdf skill", "pdf", ""},
		{"- use the pdf skill", "pdf", ""},
		{"- a\n\n    use the pdf skill", "pdf", ""},
		{"could you please take the skill pdf for this?", "pdf", ""},
		{"I'd like you to use the pdf skill.", "pdf", ""},
		{"(use the pdf skill)", "pdf", ""},
		{"use the pdf skill for the first and the docx skill for the second file", "pdf docx", ""},
		{"do it w/o the pdf skill", "", "pdf"},
		{"use anything but the pdf skill", "", "pdf"},
		{"everything except the pdf skill", "", "pdf"},
		{"No need for the pdf skill", "", "pdf"},
		{"we won't need the docx skill", "", "docx"},
		{"his docx skill is great", "", ""},
		{"Build a skill called pdf", "", ""},
		{"use the pdf and the docx skills", "pdf docx", ""},
		{"use the pdf, the docx and the xlsx skills", "pdf docx xlsx", ""},
		{"the pdf, the docx and the xlsx skill", "xlsx", ""},
		{"use the pdf and/or docx skills", "pdf docx", ""},
		{"The pdf skill should not be used", "", "pdf"},
		{"the pdf skill must never be loaded", "", "pdf"},
		{"The pdf skill shouldn’t be used here", "", "pdf"},
		{"the pdf skill may not be able to do it", "pdf", ""},
		{"drop the pdf skill", "", "pdf"},
		{"forget about the pdf skill", "", "pdf"},
		{"leave the pdf skill out", "", "pdf"},
		{"leave out the pdf skill", "", "pdf"},
		{"please leave the pdf and docx skills aside", "", "pdf docx"},
		{"keep the pdf skill out of this", "", "pdf"},
		{"lass den pdf-Skill weg", "", "pdf"},
		{"omit the pdf skill", "", "pdf"},
		{"don't leave the pdf skill out", "pdf", ""},
		{"don't leave out the pdf skill", "pdf", ""},
		{"leave the layout as it is and use the pdf skill", "pdf", ""},
		{"use the pdf skill alone", "pdf", ""},
		{"please refrain from using the pdf skill", "", "pdf"},
		// German
		{"Verwende dafür die Skills „pdf“ und „docx“.", "pdf docx", ""},
		{"Den Skill docx bitte nicht laden", "", "docx"},
		{"Nicht den docx-Skill, sondern den pdf-Skill", "pdf", "docx"},
		{"Benutze den pdf-Skill", "pdf", ""},
		{"benutze den \"pdf\"-Skill", "pdf", ""},
		{"nimm den „pdf“-Skill", "pdf", ""},
		{"mit dem Skill pdf", "pdf", ""},
		{"verwende die Skills pdf und docx", "pdf docx", ""},
		{"verwende die pdf- und docx-Skills", "pdf docx", ""},
		{"verwende den pdf- und den docx-Skill", "pdf docx", ""},
		{"verwende nicht den pdf- oder den docx-Skill", "", "pdf docx"},
		{"öffne das pdf- und den docx-Skill", "pdf docx", ""},
		{"das pdf und den docx-Skill", "docx", ""},
		{"nutze die Fähigkeit pdf", "pdf", ""},
		{"nutze deine pdf-Fähigkeit", "pdf", ""},
		{"mit den Fähigkeiten pdf und xlsx", "pdf xlsx", ""},
		{"Der PDF-Forms-Skill soll das machen", "pdf-forms", ""},
		{"vergiss nicht den pdf-Skill zu benutzen", "pdf", ""},
		{"Benutze nicht den pdf-Skill", "", "pdf"},
		{"Benutze den pdf-Skill nicht", "", "pdf"},
		{"Den pdf-Skill brauchst du nicht", "", "pdf"},
		{"Benutze den pdf-Skill, nicht den docx-Skill", "pdf", "docx"},
		{"ohne den pdf-Skill", "", "pdf"},
		{"ohne die Fähigkeit pdf zu benutzen", "", "pdf"},
		{"nimm keinen pdf-Skill", "", "pdf"},
		{"statt des pdf-Skills nimm pdftk", "", "pdf"},
		{"statt dem pdf-Skill nimm pdftk", "", "pdf"},
		{"Mach das nicht mit dem pdf-Skill", "", "pdf"},
		{"meine pdf-Fähigkeiten sind schlecht", "", ""},
		{"schreib einen pdf-Skill", "", ""},
		{"Verzichte auf den pdf-Skill", "", "pdf"},
		{"verzichte nicht auf den pdf-Skill", "pdf", ""},
		{"die pdf- und die docx-Skills", "pdf docx", ""},
		// French
		{"utilise la compétence pdf", "pdf", ""},
		{"utilise la compétence « pdf »", "pdf", ""},
		{"Avec le skill pdf, fusionne ces fichiers", "pdf", ""},
		{"avec les compétences pdf et docx", "pdf docx", ""},
		{"la compétence appelée pdf-forms", "pdf-forms", ""},
		{"n'oublie pas d'utiliser la compétence pdf", "pdf", ""},
		{"utilise la compe\u0301tence pdf", "pdf", ""},
		{"n'utilise pas la compétence pdf", "", "pdf"},
		{"n’utilise jamais la compétence pdf", "", "pdf"},
		{"sans la compétence pdf", "", "pdf"},
		{"au lieu de la compétence pdf", "", "pdf"},
		{"évite le skill pdf", "", "pdf"},
		{"ne fais pas ça avec la compétence pdf", "", "pdf"},
		{"mes compétences", "", ""},
		{"utilisez les compétences « pdf » et « docx »", "pdf docx", ""},
		{"à l'aide de la compétence docx", "docx", ""},
		{"je veux la compétence docx, pas la compétence pdf", "docx", "pdf"},
		{"pas besoin de la compétence pdf", "", "pdf"},
		{"plutôt que la compétence pdf", "", "pdf"},
		{"utilise plutôt la compétence pdf", "pdf", ""},
		{"la compétence pdf ne doit pas être utilisée", "", "pdf"},
		// Spanish
		{"usa las habilidades «pdf» y «docx»", "pdf docx", ""},
		{"no quiero que uses la habilidad pdf", "", "pdf"},
		{"usa la habilidad pdf", "pdf", ""},
		{"usa la habilidad \"pdf\"", "pdf", ""},
		{"con las habilidades pdf y docx", "pdf docx", ""},
		{"Con el skill pdf, une estos archivos", "pdf", ""},
		{"no olvides usar la habilidad pdf", "pdf", ""},
		{"no uses la habilidad pdf", "", "pdf"},
		{"hazlo sin la habilidad pdf", "", "pdf"},
		{"en vez de la habilidad pdf usa pdftk", "", "pdf"},
		{"nunca uses la habilidad pdf", "", "pdf"},
		{"no lo hagas con la habilidad pdf", "", "pdf"},
		{"mis habilidades", "", ""},
		{"la habilidad pdf no debe usarse", "", "pdf"},
		// Chinese
		{"用pdf技能合并这些文件", "pdf", ""},
		{"请使用 pdf 技能", "pdf", ""},
		{"使用“pdf”技能", "pdf", ""},
		{"使用《pdf》技能。", "pdf", ""},
		{"用技能pdf处理", "pdf", ""},
		{"技能：pdf", "pdf", ""},
		{"用pdf这个技能", "pdf", ""},
		{"用pdf和docx技能", "pdf docx", ""},
		{"用pdf、docx技能", "pdf docx", ""},
		{"使用发票技能", "发票", ""},
		{"使用发票和合同技能", "发票 合同", ""},
		{"别忘了用pdf技能", "pdf", ""},
		{"不要用pdf技能", "", "pdf"},
		{"请不要使用 pdf 技能", "", "pdf"},
		{"别用pdf技能", "", "pdf"},
		{"不用发票技能", "", "发票"},
		{"pdf技能不要用", "", "pdf"},
		{"不要用docx技能，用pdf技能", "pdf", "docx"},
		{"提高我的pdf技能", "", ""},
		{"你有什么技能？", "", ""},
		{"使用名为 pdf 的技能", "pdf", ""},
		{"用【pdf】技能", "pdf", ""},
		{"我不想让你使用pdf技能", "", "pdf"},
		{"而不是pdf技能", "", "pdf"},
		{"使用pdf和docx两个技能", "pdf docx", ""},
		{"没必要用pdf技能", "", "pdf"},
		{"写一个pdf技能", "", ""},
		{"创建pdf技能", "", ""},
		{"用pdf技能写一个报告", "pdf", ""},
		{"写报告用pdf技能", "pdf", ""},
		// Japanese
		{"docxスキルはいりません", "", "docx"},
		{"pdfスキルを使う必要はありません", "", "pdf"},
		{"スキルpdfとdocxを使って", "pdf docx", ""},
		{"pdfスキルを使って", "pdf", ""},
		{"スキル「pdf」で結合して", "pdf", ""},
		{"「pdf」スキルを使ってください", "pdf", ""},
		{"pdf のスキルで", "pdf", ""},
		{"pdfとdocxのスキルを使って", "pdf docx", ""},
		{"報告書スキルを使って", "報告書", ""},
		{"pdfスキルを使うのを忘れないで", "pdf", ""},
		{"pdfスキルを使わないで", "", "pdf"},
		{"pdfスキルは使わないでください", "", "pdf"},
		{"pdfスキルなしでやって", "", "pdf"},
		{"スキル「pdf」は不要です", "", "pdf"},
		{"pdfスキルを使わないで、docxスキルを使って", "docx", "pdf"},
		{"pdfスキルは使用禁止", "", "pdf"},
		{"pdfスキルを避けて", "", "pdf"},
		{"pdfスキルの代わりにdocxスキルを使って", "docx", "pdf"},
		{"pdfスキルを作って", "", ""},
		{"新しいpdfスキルを作成してください", "", ""},
		{"pdfスキルを作業に使って", "pdf", ""},
		{"pdfスキルを書類に使って", "pdf", ""},
		{"新しいpdfスキルを使って", "pdf", ""},
		{"pdfスキルで書類を作って", "pdf", ""},
		{"私のpdfスキルを上げたい", "", ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			named, denied := Words(tt.text, findNamed, 64)
			if got := strings.Join(named, " "); got != tt.named {
				t.Errorf("named %q, want %q", got, tt.named)
			}
			if got := strings.Join(denied, " "); got != tt.denied {
				t.Errorf("denied %q, want %q", got, tt.denied)
			}
		})
	}
}

// A long text takes little time, and names are bounded.
func TestWordsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&text, "use the s%d skill. ", i)
	}
	named, denied := Words(text.String()+strings.Repeat("skill ", 10_000), func(name string) (string, bool) {
		return name, strings.HasPrefix(name, "s") && !strings.Contains(name, "-")
	}, 64)
	if len(named) > 64 || len(named) == 0 || len(denied) > 64 {
		t.Errorf("%d named, %d denied", len(named), len(denied))
	}
}

func FuzzWords(f *testing.F) {
	for _, text := range []string{"use the pdf skill", "`pdf`-Skill", "用pdf和docx技能", "スキル「pdf」は不要", "```\nskill pdf", "not skill: pdf, docx and\xff", "skills/pdf/skill"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, 0), 64)
		named, denied := Words(text, findNamed, limit)
		if len(named) > limit || len(denied) > limit {
			t.Fatalf("%d and %d names of at most %d", len(named), len(denied), limit)
		}
		for _, name := range slices.Concat(named, denied) {
			if _, ok := findNamed(name); !ok {
				t.Fatalf("%q is no name", name)
			}
		}
		if slices.ContainsFunc(named, func(name string) bool { return slices.Contains(denied, name) }) {
			t.Fatalf("named %q and denied %q", named, denied)
		}
		if strings.ContainsAny(text, "`~\r") {
			return
		}
		if named, denied := Words("```\n"+text+"\n```", findNamed, limit); len(named)+len(denied) > 0 {
			t.Fatalf("in a code block: named %q, denied %q", named, denied)
		}
	})
}
