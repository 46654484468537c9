// Requests to this server.

const csrf = () => document.querySelector("meta[name=csrf-token]");

/** POST to a page of the console. Someone who is no longer signed in is sent to the form. */
export async function post(path, body, headers = {}, signal = undefined) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const send = () => ask(path, {
    method: "POST", body: text, signal, headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf()?.content ?? "", ...headers },
  });
  let response = await send();
  if (response.status === 403 && await renewToken()) response = await send();
  if (response.status === 401) signIn();
  return response;
}

/** Read the CSRF token again: a server that was started again has another one. Returns whether it was out of date. */
async function renewToken() {
  const page = await ask(location.pathname, { headers: { Accept: "text/html" } });
  const found = (await page.text()).match(/name="csrf-token" content="([0-9a-f]+)"/)?.[1];
  if (!found || found === csrf()?.content) return false;
  csrf().content = found;
  return true;
}

/** GET JSON of a page of the console. */
export async function getJson(path, signal = undefined) {
  return (await get(path, "application/json", signal)).json();
}

/** GET an address of the console. Someone who is no longer signed in is sent to the form. */
export async function get(path, type, signal = undefined) {
  const response = await ask(path, { headers: { Accept: type }, signal });
  if (response.status === 401) signIn();
  if (!response.ok) throw new Error(await errorWords(response));
  return response;
}

/** What a response that is not an answer says. */
export async function errorWords(response) {
  const words = await response.json().then((body) => body.error, () => null);
  return typeof words === "string" ? words : `The server answered ${response.status} ${response.statusText}`.trim() + ".";
}

/** A fetch that says in plain words if there is no server. */
async function ask(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error("The server does not answer. Is it running?");
  }
}

/** Go to the form to sign in, which leads back here. A page keeps what it wants to have then, at the event `signin`. */
function signIn() {
  window.dispatchEvent(new Event("signin"));
  location.assign("/console/sign-in?next=" + encodeURIComponent(location.pathname + location.search));
}
