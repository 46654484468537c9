// Requests to this server.

const csrf = () => document.querySelector("meta[name=csrf-token]")?.content ?? "";

/** POST to a page of the console. Someone who is no longer signed in is sent to the form. */
export async function post(path, body, headers = {}, signal = undefined) {
  const response = await ask(path, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf(), ...headers },
    signal,
  });
  if (response.status === 401) signIn();
  return response;
}

/** GET JSON of a page of the console. */
export async function getJson(path, signal = undefined) {
  const response = await ask(path, { headers: { Accept: "application/json" }, signal });
  if (response.status === 401) signIn();
  if (!response.ok) throw new Error(await errorWords(response));
  return response.json();
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

function signIn() {
  location.assign("/console/sign-in?next=" + encodeURIComponent(location.pathname + location.search));
}
