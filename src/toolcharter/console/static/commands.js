// The same call as a command to copy.

const quote = (text) => (/^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** As `toolcharter call`. */
export function toolcharterCall(url, token, tool, args) {
  const words = ["toolcharter", "call", ...(token ? ["--token", token] : []), url, tool];
  if (Object.keys(args).length) words.push("--json", JSON.stringify(args));
  return words.map(quote).join(" ");
}

/** As `curl`, in the protocol of 2026-07-28. */
export function curl(url, token, tool, args, more = {}) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args, _meta: meta } };
  const headers = [
    "Content-Type: application/json", "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", `Mcp-Name: ${tool}`,
    ...Object.entries(more).map(([key, value]) => `${key}: ${value}`),
    ...(token ? [`Authorization: Bearer ${token}`] : []),
  ];
  return [`curl ${quote(url)}`, ...headers.map((one) => `-H ${quote(one)}`), `-d ${quote(JSON.stringify(body))}`].join(" \\\n  ");
}
