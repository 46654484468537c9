// The TypeScript client lists the demo's tools and calls one:
//     node client.mjs legacy|modern URL
//     node client.mjs legacy|modern COMMAND ARGUMENT...
// Run in the folder that the packages are installed in; prints one line of JSON.

import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const [era, target, ...args] = process.argv.slice(2);
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args });
const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
const client = new Client({ name: "typescript", version: "1" }, { versionNegotiation: { mode } });

await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), text: result.content[0].text }));
