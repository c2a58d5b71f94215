"""A client of the Skills Protocol that needs nothing but Python.

    satchel serve --skills examples/server-client/skills
    python3 examples/server-client/client.py
"""
import json
import sys
import urllib.request


class SkillsRuntimeClient:
    def __init__(self, endpoint="http://localhost:8080/rpc"):
        self.endpoint = endpoint
        self.request_id = 0
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def _call(self, method, params=None):
        self.request_id += 1
        payload = {"jsonrpc": "2.0", "id": str(self.request_id), "method": method, "params": params or {}}
        request = urllib.request.Request(self.endpoint, json.dumps(payload).encode(), {"Content-Type": "application/json"})
        with self.opener.open(request, timeout=320) as response:
            result = json.load(response)
        if "error" in result:
            raise Exception(f"RPC Error: {result['error']}")
        return result["result"]

    def list_skills(self, namespace=None, detail="names", limit=50):
        return self._call("list_skills", {"namespace": namespace, "detail": detail, "limit": limit})

    def describe_skill(self, name, version=None, detail="summary"):
        params = {"name": name, "detail": detail}
        if version:
            params["version"] = version
        return self._call("describe_skill", params)

    def read_skill_file(self, name, path, version=None):
        params = {"name": name, "path": path}
        if version:
            params["version"] = version
        return self._call("read_skill_file", params)

    def execute_skill(self, name, args=None, version=None, input_blobs=None, timeout_ms=None):
        params = {"name": name}
        for key, value in {"version": version, "args": args, "input_blobs": input_blobs, "timeout_ms": timeout_ms}.items():
            if value:
                params[key] = value
        return self._call("execute_skill", params)

    def run_code(self, code, language="python", entrypoint="main", args=None, mount_skills=None, input_blobs=None, timeout_ms=None):
        params = {"language": language, "code": code, "entrypoint": entrypoint}
        for key, value in {"args": args, "mount_skills": mount_skills, "input_blobs": input_blobs}.items():
            if value:
                params[key] = value
        if timeout_ms:
            params["limits"] = {"timeout_ms": timeout_ms}
        return self._call("run_code", params)

    def create_blob(self, content, kind="text/plain"):
        return self._call("create_blob", {"content": content, "kind": kind})

    def read_blob(self, blob_id, mode="sample_head", max_bytes=2000):
        return self._call("read_blob", {"blob_id": blob_id, "mode": mode, "max_bytes": max_bytes})

    def load_skills_protocol_guide(self):
        return self._call("load_skills_protocol_guide", {})


client = SkillsRuntimeClient(*sys.argv[1:])

# 1. Load the guide.
guide = client.load_skills_protocol_guide()
print(guide["content"])

# 2. Discover skills.
skills = client.list_skills(namespace="salesforce")
print(f"Found {len(skills['skills'])} Salesforce skills")

# 3. Inspect one.
skill_info = client.describe_skill("salesforce.leads.sync")
print(f"Skill: {skill_info['skill']['manifest']['description']}")

# 4. Read its documentation.
docs = client.read_skill_file("salesforce.leads.sync", "SKILL.md")
print(docs["content"])

# 5. Create a blob for large data.
csv_data = "name,email,company\nJohn Doe,john@example.com,Acme Inc\nJane Roe,jane@example.com,Acme Inc\n"
blob = client.create_blob(csv_data, kind="text/csv")
print(f"Created blob: {blob['blob_id']}")

# 6. Execute the skill.
result = client.execute_skill(
    name="salesforce.leads.sync", args={"sheet_blob": blob["blob_id"], "env": "prod"}, input_blobs=[blob["blob_id"]]
)
if result["status"] == "completed":
    print(f"Success: {result['summary']}")
    print(f"Output: {result['output']}")
else:
    print(f"Failed: {result['error']['message']}")

# 7. Run code that uses several skills.
code = """
from skills.salesforce.leads.sync import sync_leads
from skills.gdrive.sheets.read import read_sheet
from runtime import blobs

def main(args):
    sheet_data = read_sheet(args['sheet_url'])
    blob_id = blobs.write_text(sheet_data)
    result = sync_leads(blob_id, env='prod')
    return {
        'synced': result['count'],
        'errors': result['errors']
    }
"""
result = client.run_code(
    code=code, mount_skills=["salesforce.leads.sync", "gdrive.sheets.read"], args={"sheet_url": "https://docs.google.com/spreadsheets/d/1"}
)
print(f"Custom workflow result: {result['output']}")
