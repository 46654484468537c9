// A window in front of the page. Escape closes it, and the focus returns to where it was.
import { element } from "./dom.js";

/**
 * Show something until it is closed. With `save` it is a form, whose button is named `yes`; it stays open if `save()`
 * fails, and says why. With `isCareful` the focus is on the other button, so that a key that is held down does nothing.
 */
export function openDialog(title, content, { save = null, yes = "Save", no = "Close", isDanger = false, isCareful = false, onClose = () => {} } = {}) {
  const problem = element("p", { class: "problem", role: "alert" });
  const form = element("form", { novalidate: true }, element("h2", { id: "dialog-title" }, title), content, problem,
    element("div", { class: "row" },
      save && element("button", { type: "submit", class: isDanger ? "danger" : null }, yes),
      element("button", { type: "button", class: "quiet", autofocus: isCareful, onclick: () => dialog.close() }, no)));
  const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await save();
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  form.addEventListener("keydown", (event) => {
    const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat;
    if (isSend && save && !isCareful) form.requestSubmit();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
}
