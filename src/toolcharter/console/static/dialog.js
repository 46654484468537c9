// A window in front of the page. Escape closes it, and the focus returns to where it was.
import { element } from "./dom.js";

/** Show something until it is closed. With `save` it is a form, which stays open if `save()` fails, and says why. */
export function openDialog(title, content, { save = null, onClose = () => {} } = {}) {
  const problem = element("p", { class: "problem", role: "alert" });
  const close = element("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, save ? "Cancel" : "Close");
  const form = element("form", {}, element("h2", { id: "dialog-title" }, title), content, problem,
    element("div", { class: "row" }, save ? element("button", { type: "submit" }, "Save ", element("kbd", {}, "Ctrl Enter")) : null, close));
  const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await save?.();
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
}
