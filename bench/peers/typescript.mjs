// The TypeScript SDK's server over stdio, with one tool: node typescript.mjs NODE_MODULES

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (path) => import(pathToFileURL(join(process.argv[2], path)).href);
const { McpServer, fromJsonSchema } = await load("@modelcontextprotocol/server/dist/index.mjs");
const { serveStdio } = await load("@modelcontextprotocol/server/dist/stdio.mjs");

const inputSchema = fromJsonSchema({
  type: "object",
  properties: { a: { type: "integer" }, b: { type: "integer" } },
  required: ["a", "b"],
});

serveStdio(() => {
  const server = new McpServer({ name: "typescript", version: "1" }, { capabilities: { tools: {} } });
  server.registerTool("add", { description: "Add two whole numbers.", inputSchema }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  return server;
});
