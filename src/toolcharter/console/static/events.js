// Server-sent events of this server, also over a restart of it.
import { get } from "./requests.js";

const AGAIN_MS = 2000;

/**
 * Hear events until `close()` is called. `onLost(words)` is called when the connection is lost for longer than a moment,
 * `onOpen()` when it is open. A server that refuses the connection is asked why, until it does not; `onAgain()` then
 * starts anew.
 */
export function follow(path, { onMessage, onOpen, onLost, onAgain }) {
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
    const asked = new AbortController();
    try {
      await get(path, "text/event-stream", asked.signal);
    } catch (error) {
      if (ended) return;
      onLost(`${error.message} Trying again.`);
      timer = setTimeout(tryAgain, AGAIN_MS);
      return;
    } finally {
      asked.abort();
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
