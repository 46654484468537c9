// Server-sent events of this server, also over a restart of it.
import { getJson } from "./requests.js";

const AGAIN_MS = 2000;

/**
 * Hear events until `close()` is called. `onLost(words)` is called once the connection is lost for longer than a moment,
 * `onOpen()` when it is open. A server that refuses the connection is tried again, with `check`, an address of JSON:
 * someone who is no longer signed in is sent to the form. After that, `onAgain()` starts anew.
 */
export function follow(path, { check, onMessage, onOpen, onLost, onAgain }) {
  const source = new EventSource(path);
  let timer = 0;
  let ended = false;

  function lost() {
    if (timer || ended) return;
    // The server ends each stream from time to time, and the browser connects again at once: nobody has to know.
    timer = setTimeout(() => {
      timer = 0;
      onLost("The connection was lost. Trying again.");
      if (source.readyState === EventSource.CLOSED) tryAgain();
    }, AGAIN_MS);
  }

  async function tryAgain() {
    try {
      await getJson(check);
    } catch (error) {
      if (ended) return;
      onLost(`${error.message} Trying again.`);
      timer = setTimeout(tryAgain, AGAIN_MS);
      return;
    }
    if (!ended) onAgain();
  }

  source.addEventListener("message", (message) => onMessage(message.data));
  source.addEventListener("open", () => {
    clearTimeout(timer);
    timer = 0;
    onOpen();
  });
  source.addEventListener("error", lost);
  return {
    close() {
      ended = true;
      clearTimeout(timer);
      source.close();
    },
  };
}
