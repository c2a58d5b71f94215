"""Fills cells of a workbook: fill.py FORM.xlsx FILLED.xlsx < cells.json"""

import json
import sys

from openpyxl import load_workbook

book = load_workbook(sys.argv[1])
sheet = book.active
for cell, value in json.load(sys.stdin).items():
    before, sheet[cell] = sheet[cell].value, value
    print(f"{sheet.title}!{cell}: {before!r} -> {value!r}")
book.save(sys.argv[2])
