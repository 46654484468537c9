// Asks the person what a tool asks.
import { element } from "./dom.js";
import { objectFields } from "./schema_form.js";

/**
 * Show a question; resolves to the fields of the answer, or to null where the person declines. The focus is on No, so
 * that a key that is still held down agrees to nothing.
 */
export function askPerson(question, schema, isDestructive = false) {
  const names = Object.keys(schema.properties ?? {});
  const yesOnly = names.length === 1 && schema.properties[names[0]].type === "boolean";
  const fields = yesOnly ? null : objectFields(schema);
  const problem = element("p", { class: "problem", role: "alert" });
  return new Promise((resolve) => {
    const dialog = element("dialog", { "aria-labelledby": "question" },
      element("h2", { id: "question" }, "The tool asks"),
      element("p", { class: "question" }, question),
      fields?.element, problem,
      element("div", { class: "row" },
        element("button", { type: "button", class: isDestructive ? "danger" : null, onclick: accept }, yesOnly ? schema.properties[names[0]].title ?? "Yes" : "Send"),
        element("button", { type: "button", class: "quiet", autofocus: yesOnly, onclick: () => end(null) }, "No, do not")));
    function accept() {
      try {
        end(yesOnly ? { [names[0]]: true } : fields.read());
      } catch (error) {
        problem.textContent = error.message;
      }
    }
    function end(answer) {
      dialog.close();
      dialog.remove();
      resolve(answer);
    }
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); end(null); });
    document.body.append(dialog);
    dialog.showModal();
  });
}
