// Fields made from a JSON Schema. A field has an element, and can be read and filled in:
//   read() returns the value, or undefined where nothing is given; write(value) fills it in.
// What a schema says that no field can show is written as JSON.
import { element, fill } from "./dom.js";

let made = 0;

/** A value that cannot be sent as it is written. */
export class FieldError extends Error {
  constructor(message, input) {
    super(message);
    this.input = input;
  }
}

/** The fields of an object's members, without a frame. */
export function objectFields(schema) {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, field(name, inner, required.has(name))]);
  return {
    element: element("div", { class: "fields" }, fields.map(([, one]) => one.element)),
    read() {
      const values = fields.map(([name, one]) => [name, one.read()]).filter(([, value]) => value !== undefined);
      return Object.fromEntries(values);
    },
    write(value) {
      for (const [name, one] of fields) one.write(value?.[name]);
    },
  };
}

function field(name, schema, required) {
  const inner = withoutNull(schema);
  const make = maker(inner);
  return make(name, inner, required);
}

function maker(schema) {
  if (Array.isArray(schema.enum) || "const" in schema) return choiceField;
  if (Array.isArray(schema.anyOf) || Array.isArray(schema.oneOf)) return unionField;
  switch (schema.type) {
    case "boolean": return choiceField;
    case "integer": case "number": return numberField;
    case "string": return textField;
    case "array": return schema.items && !Array.isArray(schema.items) && schema.items !== true ? listField : jsonField;
    case "object": return Object.keys(schema.properties ?? {}).length ? groupField : jsonField;
    default: return jsonField;
  }
}

/** `anyOf: [T, null]` and `type: [T, "null"]` are T: an optional field is left out, not null. */
function withoutNull(schema) {
  if (typeof schema !== "object" || schema === null) return {};
  for (const key of ["anyOf", "oneOf"]) {
    const others = schema[key]?.filter?.((one) => one?.type !== "null");
    if (others?.length === 1) return { ...schema, [key]: undefined, ...others[0], description: schema.description ?? others[0].description };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((one) => one !== "null");
    return { ...schema, type: types.length === 1 ? types[0] : undefined };
  }
  return schema;
}

// --- the frame of a field ---

function frame(name, schema, required, input, extra = null) {
  const id = (input.id = `field-${++made}`);
  const help = helpText(schema);
  if (help) input.setAttribute("aria-describedby", `${id}-help`);
  if (required) input.setAttribute("aria-required", "true");
  const mark = required ? null : element("small", {}, " optional");
  return element("div", { class: "field" },
    element("label", { for: id }, element("code", {}, name), mark),
    input, extra, help ? element("p", { class: "help", id: `${id}-help` }, help) : null);
}

function helpText(schema) {
  const limits = [range(schema), schema.multipleOf === undefined ? "" : `a multiple of ${schema.multipleOf}`].filter(Boolean).join(", ");
  const words = schema.description?.includes?.(limits) ? "" : sentence(limits);
  const given = isGiven(schema.default) ? `Default: ${JSON.stringify(schema.default)}.` : "";
  return [schema.description, words, given].filter(Boolean).join(" ");
}

/** Whether a default says something: an empty text or list is what a field without a value means anyway. */
const isGiven = (value) => value !== undefined && value !== null && value !== "" && !(typeof value === "object" && !Object.keys(value).length);

const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + "." : "");

function range({ minimum: low, maximum: high, exclusiveMinimum: above, exclusiveMaximum: below }) {
  if (low !== undefined && high !== undefined) return `${low} to ${high}`;
  return [
    low === undefined ? null : `at least ${low}`, above === undefined ? null : `above ${above}`,
    high === undefined ? null : `at most ${high}`, below === undefined ? null : `below ${below}`,
  ].filter(Boolean).join(", ");
}

function check(input, name) {
  input.removeAttribute("aria-invalid");
  if (input.validity.valid) return;
  fail(input, `${name}: ${input.validationMessage}`);
}

function fail(input, message) {
  input.setAttribute("aria-invalid", "true");
  throw new FieldError(message, input);
}

function requireValue(input, name, required) {
  if (required) fail(input, `${name} is required.`);
  return undefined;
}

// --- fields ---

function choiceField(name, schema, required) {
  const values = "const" in schema ? [schema.const] : schema.enum ?? [true, false];
  const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const none = element("option", { value: "" }, required ? "Choose…" : isGiven(schema.default) ? `default: ${words(schema.default)}` : "not given");
  const input = element("select", {}, none, values.map((value, at) => element("option", { value: String(at) }, words(value))));
  return {
    element: frame(name, { ...schema, default: undefined }, required, input),
    read() {
      input.removeAttribute("aria-invalid");
      return input.value === "" ? requireValue(input, name, required) : values[Number(input.value)];
    },
    write(value) {
      const at = values.findIndex((one) => JSON.stringify(one) === JSON.stringify(value));
      input.value = at < 0 ? "" : String(at);
    },
  };
}

function numberField(name, schema, required) {
  const whole = schema.type === "integer";
  const input = element("input", {
    type: "number", min: schema.minimum, max: schema.maximum, inputmode: whole ? "numeric" : "decimal",
    step: schema.multipleOf ?? (whole ? 1 : "any"),
  });
  return {
    element: frame(name, schema, required, input),
    read() {
      check(input, name);
      return input.value === "" ? requireValue(input, name, required) : Number(input.value);
    },
    write(value) { input.value = value ?? ""; },
  };
}

const INPUT_TYPES = { date: "date", email: "email", uri: "url", password: "password" };
const LONG_TEXT = 200;

function textField(name, schema, required) {
  const limits = { minlength: schema.minLength };  // maxlength would cut what is pasted, silently
  const short = schema.format || schema.pattern || (schema.maxLength ?? 0) < LONG_TEXT;
  const input = short
    ? element("input", { type: INPUT_TYPES[schema.format] ?? "text", ...limits, autocomplete: "off", spellcheck: "false" })
    : element("textarea", { rows: 3, ...limits });
  if (schema.writeOnly) input.type = "password";
  try {
    if (schema.pattern) new RegExp(schema.pattern, "v");
    if (schema.pattern) input.pattern = `.*(?:${schema.pattern}).*`;
  } catch { /* a pattern of another dialect: the server checks it */ }
  return {
    element: frame(name, schema, required, input),
    read() {
      check(input, name);
      const length = [...input.value].length;
      if (length > schema.maxLength) fail(input, `${name} has ${length} characters; at most ${schema.maxLength} are allowed.`);
      if (input.value !== "") return input.value;
      return required && (schema.minLength ?? 0) === 0 && !schema.format ? "" : requireValue(input, name, required);
    },
    write(value) { input.value = value ?? ""; },
  };
}

function jsonField(name, schema, required) {
  const kind = schema.type === "object" ? "{}" : schema.type === "array" ? "[]" : "";
  const input = element("textarea", { rows: 3, class: "code", spellcheck: "false", placeholder: kind || "JSON" });
  return {
    element: frame(name, { ...schema, description: [schema.description, "Written as JSON."].filter(Boolean).join(" ") }, required, input),
    read() {
      input.removeAttribute("aria-invalid");
      if (!input.value.trim()) return requireValue(input, name, required);
      try {
        return JSON.parse(input.value);
      } catch (error) {
        return fail(input, `${name} is not valid JSON: ${error.message}`);
      }
    },
    write(value) { input.value = value === undefined ? "" : JSON.stringify(value, null, 2); },
  };
}

function group(name, schema, required, ...content) {
  const id = `field-${++made}`;
  const help = helpText(schema);
  return element("fieldset", { class: "field", "aria-describedby": help ? `${id}-help` : null },
    element("legend", {}, element("code", {}, name), required ? null : element("small", {}, " optional")),
    help ? element("p", { class: "help", id: `${id}-help` }, help) : null, ...content);
}

function groupField(name, schema, required) {
  const inner = objectFields(schema);
  return {
    element: group(name, schema, required, inner.element),
    read() {
      // An optional object in which nothing is written is left out, whatever its members require.
      if (!required && isEmpty(inner.element)) return undefined;
      return inner.read();
    },
    write: inner.write,
  };
}

/** Whether nothing is written in any field, but for so many that are filled in from the beginning. */
function isEmpty(part, filled = 0) {
  const written = [...part.querySelectorAll("input, select, textarea")].filter((one) => one.value !== "");
  return written.length <= filled && !part.querySelector(".item");
}

function listField(name, schema, required) {
  const items = element("div", { class: "items" });
  let fields = [];
  function add(value) {
    const one = field(`${name}[${fields.length}]`, schema.items, true);
    const remove = element("button", { type: "button", class: "small", "aria-label": `Remove item ${fields.length} of ${name}` }, "Remove");
    const item = element("div", { class: "item" }, one.element, remove);
    remove.addEventListener("click", () => {
      const values = fields.filter((other) => other !== one).map((other) => quietly(other));
      write(values);
      adder.focus();
    });
    if (value !== undefined) one.write(value);
    fields.push(one);
    items.append(item);
    return item;
  }
  function write(values) {
    fields = [];
    fill(items);
    for (const value of Array.isArray(values) ? values : []) add(value);
    items.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const adder = element("button", { type: "button", class: "small" }, "Add an item");
  adder.addEventListener("click", () => {
    add().querySelector("input, select, textarea")?.focus();
    items.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return {
    element: group(name, schema, required, items, adder),
    read() {
      if (!fields.length) return required ? [] : undefined;
      return fields.map((one) => one.read());
    },
    write,
  };
}

/** The value of a field, also if it is not valid yet. */
function quietly(one) {
  try { return one.read() ?? ""; } catch { return ""; }
}

function unionField(name, schema, required) {
  const options = schema.anyOf ?? schema.oneOf;
  const chooser = element("select", { "aria-label": `Form of ${name}` }, options.map((one, at) => element("option", { value: at }, formName(one, at))));
  const place = element("div", { class: "form" });
  let inner;
  function choose(at) {
    chooser.value = String(at);
    const only = onlyValues(options[at]);
    const members = options[at]?.type === "object" && Object.keys(options[at].properties ?? {}).length > 0;
    const fields = members ? objectFields(options[at]) : field(name, options[at], required);
    // What tells the forms apart is known with the form.
    fields.write(members ? only : undefined);
    const isLeftOut = () => members && !required && isEmpty(place, Object.keys(only).length);
    inner = { ...fields, read: () => (isLeftOut() ? undefined : fields.read()) };
    fill(place, inner.element);
  }
  chooser.addEventListener("change", () => choose(Number(chooser.value)));
  choose(0);
  return {
    element: group(name, schema, required, chooser, place),
    read: () => inner.read(),
    write(value) {
      const at = value === undefined ? 0 : options.findIndex((one) => fits(one, value));
      choose(Math.max(0, at));
      if (value !== undefined) inner.write(value);
    },
  };
}

/** The members of an object that can have one value only, such as `kind: "cat"`. */
function onlyValues(schema) {
  const found = Object.entries(schema?.properties ?? {}).map(([key, one]) => [key, "const" in one ? [one.const] : one.enum ?? []]);
  return Object.fromEntries(found.filter(([, values]) => values.length === 1).map(([key, values]) => [key, values[0]]));
}

/** What a person reads for one of several forms. */
function formName(schema, at) {
  const [only] = Object.entries(onlyValues(schema));
  if (schema.title) return schema.title;
  if (only) return `${only[0]}: ${JSON.stringify(only[1])}`;
  return schema.const === undefined ? schema.type ?? `form ${at + 1}` : JSON.stringify(schema.const);
}

/** Whether a value may be meant by one of several forms. */
function fits(schema, value) {
  if (Array.isArray(schema.enum)) return schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(value));
  if ("const" in schema) return JSON.stringify(schema.const) === JSON.stringify(value);
  if (Object.entries(onlyValues(schema)).some(([key, one]) => value && key in value && value[key] !== one)) return false;
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (schema.type !== type && !(schema.type === "integer" && Number.isInteger(value))) return schema.type === undefined;
  return type !== "object" || (schema.required ?? []).every((key) => key in value);
}
