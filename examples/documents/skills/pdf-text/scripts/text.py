"""Prints the text of a PDF, page by page: text.py FILE.pdf"""

import sys

from pypdf import PdfReader

pages = PdfReader(sys.argv[1]).pages
for number, page in enumerate(pages, 1):
    print(f"--- page {number} of {len(pages)}")
    print(page.extract_text().strip())
