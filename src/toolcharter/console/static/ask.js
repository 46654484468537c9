// Asks the person what a tool asks.
import { openDialog } from "./dialog.js";
import { element } from "./dom.js";
import { objectFields } from "./schema_form.js";

/** Show a question; resolves to the fields of the answer, or to null where the person declines. */
export function askPerson(question, schema, isDestructive = false) {
  const names = Object.keys(schema.properties ?? {});
  const yesOnly = names.length === 1 && schema.properties[names[0]].type === "boolean";
  const fields = yesOnly ? null : objectFields(schema);
  let answer = null;
  return new Promise((resolve) => {
    openDialog("The tool asks", [element("p", { class: "question", dir: "auto" }, question), fields?.element], {
      save() { answer = yesOnly ? { [names[0]]: true } : fields.read(); },
      yes: yesOnly ? schema.properties[names[0]].title ?? "Yes" : "Send",
      no: "No, do not",
      isDanger: isDestructive,
      isCareful: yesOnly,
      onClose: () => resolve(answer),
    });
  });
}
