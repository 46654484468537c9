// Gives every block of text to copy its button.
import { addCopyButton } from "./dom.js";

document.querySelectorAll(".copy").forEach((block) => addCopyButton(block));
