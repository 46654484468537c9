// Elements and text. Nothing here, or anywhere else in the console, makes markup of text.

const UNSEEN = /(?!(?<=[\u0600-\u109f\u1780-\u18af])[\u200c\u200d](?=[\u0600-\u109f\u1780-\u18af])|(?<=[\u2190-\u2bff\ufe0f\u{1f000}-\u{1faff}])\u200d(?=[\u2190-\u2bff\u{1f000}-\u{1faff}]))[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;

/**
 * Text with control characters, and those that change the direction of text, made visible. A joiner stays where it
 * belongs: between letters of a script that uses it, and in an emoji.
 */
export function visible(text) {
  return String(text).replace(UNSEEN, (one) =>
    one === "\n" || one === "\t" ? one : "\\u" + one.codePointAt(0).toString(16).padStart(4, "0"));
}

/** An element: element("a", { href: "/", class: "x", onclick: f }, "text", otherElement). Attributes that are null or false are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value" && "value" in made) made.value = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (one instanceof Node ? one : visible(one))));
  return made;
}

/** Put these children into an element in place of those that it has. */
export function fill(parent, ...children) {
  parent.replaceChildren(element("div", {}, ...children));
  parent.replaceChildren(...parent.firstChild.childNodes);
}

/** Let the key / go to a search field. */
export function focusBySlash(input) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select, dialog")) return;
    event.preventDefault();
    input.focus();
  });
}

const LONGEST_SHOWN = 100_000;

/** A block of text to copy, with its button. Of a very long text the beginning is shown until the reader wants all. */
export function copyable(text) {
  const whole = visible(text);
  const code = element("code", {}, whole.slice(0, LONGEST_SHOWN));
  const block = element("div", { class: "copy" }, element("pre", { tabindex: "0" }, code));
  addCopyButton(block, whole);
  if (whole.length > LONGEST_SHOWN) {
    const more = element("button", { type: "button", class: "small", onclick: () => { code.textContent = whole; rest.remove(); } }, "Show all");
    const rest = element("p", { class: "note" }, `The first ${LONGEST_SHOWN.toLocaleString("en")} of ${whole.length.toLocaleString("en")} characters. `, more);
    block.append(rest);
  }
  return block;
}

/** Give a block `.copy` its button. */
export function addCopyButton(block, text = null) {
  const button = element("button", { type: "button", class: "small" }, "Copy");
  const code = block.querySelector("code");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text ?? code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  code.before(button); // the text flows around it
}
