// What was typed into a form: this tab keeps it while its person signs in again. Secrets are not kept.

const SECRET_NAME = /passw|passphrase|pwd|secret|token(?!s)|(api|access|private|signing|encryption)[-_]?key|auth(?!or)|jwt|credential|cookie/i;
const place = () => `arguments of ${location.pathname}`;
const person = () => document.querySelector(".who")?.textContent ?? "";

/** Keep arguments until the same person is back at this page. */
export function keepDraft(args, schema) {
  sessionStorage.setItem(place(), JSON.stringify({ person: person(), args: withoutSecrets(args, schema) }));
}

/** The arguments that were kept, once; null if there are none, or they are of somebody else. */
export function takeDraft() {
  const kept = JSON.parse(sessionStorage.getItem(place()) ?? "null");
  sessionStorage.removeItem(place());
  return kept?.person === person() ? kept.args : null;
}

function withoutSecrets(value, schema) {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, { anyOf: forms(schema).map((form) => form.items) }));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, inner, forms(schema).flatMap((form) => forms(form.properties?.[name] ?? form.additionalProperties))]);
  return Object.fromEntries(members.filter(([name, , found]) => !SECRET_NAME.test(name) && !found.some(isSecret))
    .map(([name, inner, found]) => [name, withoutSecrets(inner, { anyOf: found })]));
}

const isSecret = (schema) => schema.writeOnly === true || schema.format === "password";

/** A schema and all of its alternatives. */
function forms(schema) {
  if (typeof schema !== "object" || schema === null) return [];
  return [schema, ...["anyOf", "oneOf", "allOf"].flatMap((key) => (Array.isArray(schema[key]) ? schema[key].flatMap(forms) : []))];
}
