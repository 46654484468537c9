// Shortcuts for the list, which works without them too.

for (const task of document.querySelectorAll(".tasks details")) {
  task.addEventListener("toggle", () => { if (task.open) task.querySelector("[name=title]").focus(); });
}

document.addEventListener("keydown", (event) => {
  const open = event.target.closest(".tasks [open]");
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
  } else if (event.key === "n" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, textarea, select")) {
    document.getElementById("title")?.focus();
    event.preventDefault();
  }
});
