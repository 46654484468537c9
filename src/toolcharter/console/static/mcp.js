// MCP from the browser, protocol 2026-07-28: each request by itself, with what the client can do.
import { post } from "./requests.js";

const VERSION = "2026-07-28";
const META = "io.modelcontextprotocol/";
const NAMED = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

/** An error of the protocol or of HTTP. */
export class McpError extends Error {
  constructor(message, code = null, data = null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * Send one request to a server. `onProgress(progress, total, message)` hears of progress.
 * Returns the result, which may be a question: see `callTool`.
 */
export async function request(server, method, params, { onProgress, signal, headers: more = {} } = {}) {
  const meta = {
    [META + "protocolVersion"]: VERSION,
    [META + "clientCapabilities"]: { elicitation: { form: {} } },
    [META + "clientInfo"]: { name: "toolcharter console", version: document.querySelector("meta[name=version]")?.content ?? "0" },
  };
  if (onProgress) meta.progressToken = 1;
  const headers = { Accept: "application/json, text/event-stream", "MCP-Protocol-Version": VERSION, "Mcp-Method": method };
  Object.assign(headers, more);
  if (NAMED[method]) headers["Mcp-Name"] = headerValue(params[NAMED[method]]);
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: { ...meta, ...params._meta } } };
  const response = await post("/console/call/" + encodeURIComponent(server), body, headers, signal);
  const type = response.headers.get("content-type") ?? "";
  const message = type.startsWith("text/event-stream")
    ? await lastMessage(response.body, onProgress)
    : await jsonMessage(response);
  if (message.error) {
    const { code, message: words, data } = message.error;
    throw new McpError(words, code, data);
  }
  return message.result;
}

/**
 * Call a tool. If it asks, `ask(question, schema)` resolves to the fields of the answer, or to null to decline,
 * and the tool is called again with that. `schema` is needed for tools whose arguments are repeated in headers.
 */
export async function callTool(server, name, args, { ask, onProgress, signal, schema } = {}) {
  const options = { onProgress, signal, headers: argumentHeaders(schema, args) };
  let result = await request(server, "tools/call", { name, arguments: args }, options);
  while (result.resultType === "input_required") {
    const inputResponses = {};
    for (const [key, one] of Object.entries(result.inputRequests ?? {})) {
      const content = ask ? await ask(one.params?.message ?? "", one.params?.requestedSchema ?? {}) : null;
      inputResponses[key] = content ? { action: "accept", content } : { action: "decline" };
    }
    const again = { name, arguments: args, inputResponses, requestState: result.requestState };
    result = await request(server, "tools/call", again, options);
  }
  return result;
}

/** The headers that repeat arguments, where the schema asks for it: `x-mcp-header`. */
export function argumentHeaders(schema, args) {
  const named = Object.entries(schema?.properties ?? {}).filter(([key, one]) => one?.["x-mcp-header"] && args?.[key] != null);
  return Object.fromEntries(named.map(([key, one]) => [`Mcp-Param-${one["x-mcp-header"]}`, headerValue(String(args[key]))]));
}

/** The value of a header: names outside of ASCII are written in base64, as the protocol has it. */
function headerValue(text) {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?")) return text;
  const bytes = new TextEncoder().encode(text);
  return "=?base64?" + btoa(String.fromCharCode(...bytes)) + "?=";
}

async function jsonMessage(response) {
  const text = await response.text();
  let message;
  try { message = JSON.parse(text); } catch { message = null; }
  if (message?.result !== undefined || message?.error?.message) return message;
  throw new McpError(message?.error ?? (text || `The server answered ${response.status}.`), response.status);
}

/** Read server-sent events until the answer. */
async function lastMessage(stream, onProgress) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new McpError("The connection ended before the answer.");
    buffer += value;
    const events = buffer.split(/\r?\n\r?\n/);
    buffer = events.pop();
    for (const event of events) {
      const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (!data) continue;
      const message = JSON.parse(data);
      if (message.method === "notifications/progress") {
        const { progress, total, message: words } = message.params;
        onProgress?.(progress, total ?? null, words ?? null);
      } else if (message.id !== undefined) return message;
    }
  }
}
