/** Copying to the clipboard. Pages loaded over http from another machine have no clipboard API, only `execCommand`. */

/** Copy a text once it is ready. Rejects if the browser does not allow it. */
export async function toClipboard(text: Promise<string>): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined) return copyByCommand(await text);
  // Safari allows only a `ClipboardItem` created during the click. Other browsers also allow a text that is ready
  // seconds later.
  if (typeof ClipboardItem === "function" && typeof clipboard.write === "function") {
    const blob = text.then((content) => new Blob([content], { type: "text/plain" }));
    try {
      await clipboard.write([new ClipboardItem({ "text/plain": blob })]);
      return;
    } catch {
      // `writeText` may still be allowed.
    }
  }
  await clipboard.writeText(await text);
}

/** Copy with `execCommand`: a `copy` listener replaces the selected text. */
function copyByCommand(text: string): void {
  let isCopied = false;
  const onCopy = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isCopied = true;
  };
  document.addEventListener("copy", onCopy, { capture: true, once: true });
  document.execCommand?.("copy");
  document.removeEventListener("copy", onCopy, { capture: true });
  if (!isCopied) throw new Error("The browser does not allow copying here.");
}
