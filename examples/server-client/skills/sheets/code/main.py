def read_sheet(url):
    return "name,email\nJohn Doe,john@example.com\nJane Roe,jane@example.com\n"


def main(args):
    return {"csv": read_sheet(args["sheet_url"])}
