"""Writes a document from plain text: write.py FILE.docx < text"""

import sys

from docx import Document

document = Document()
for line in filter(None, map(str.strip, sys.stdin)):
    if line.startswith("# "):
        document.add_heading(line[2:], 0)
    elif line.startswith("## "):
        document.add_heading(line[3:], 1)
    elif line.startswith("- "):
        document.add_paragraph(line[2:], style="List Bullet")
    else:
        document.add_paragraph(line)
document.save(sys.argv[1])
print(f"{len(document.paragraphs)} paragraphs")
