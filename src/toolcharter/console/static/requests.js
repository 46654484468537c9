// Requests to this server.

const csrf = () => document.querySelector("meta[name=csrf-token]")?.content ?? "";

/** POST to a page of the console. Someone who is no longer signed in is sent to the form. */
export async function post(path, body, headers = {}, signal = undefined) {
  const response = await fetch(path, {
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
  const response = await fetch(path, { headers: { Accept: "application/json" }, signal });
  if (response.status === 401) signIn();
  if (!response.ok) throw new Error(`The server answered ${response.status} ${response.statusText}`);
  return response.json();
}

function signIn() {
  location.assign("/console/sign-in?next=" + encodeURIComponent(location.pathname + location.search));
}
