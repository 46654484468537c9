// The TypeScript client as a process: see real_client.py, which does the same in Python.
//     node real_client.mjs NODE_MODULES

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.argv[2], "package.json"));
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const WARM_UP = 20;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function callMany(client, first, calls, inFlight) {
  const sums = {};
  let next = first;
  const work = async () => {
    while (next < first + calls) {
      const a = next++;
      const answer = await client.callTool({ name: "add", arguments: { a, b: 2 * a } });
      sums[a] = answer.content[0].text;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, work));
  return { seconds: (performance.now() - started) / 1000, sums };
}

for (let line = await lines.next(); !line.done; line = await lines.next()) {
  const { url, era, calls, in_flight: inFlight, first } = JSON.parse(line.value);
  const mode = era === "2026-07-28" ? { pin: era } : "legacy";
  const client = new Client({ name: "typescript", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await callMany(client, first, WARM_UP, inFlight);
  console.log("ready");
  await lines.next();
  console.log(JSON.stringify(await callMany(client, first + WARM_UP, calls, inFlight)));
  await client.close();
}
