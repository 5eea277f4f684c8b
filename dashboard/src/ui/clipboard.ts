/** The clipboard, where the browser gives one: not over http at an address that is not this machine. */

/** Puts a text there that is still being made. Rejects when the browser does not allow it. */
export async function toClipboard(text: Promise<string>): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined) throw new Error("This browser gives no clipboard here.");
  // Safari allows what began at the click, and only as an item; others allow a text some seconds later.
  if (typeof ClipboardItem === "function" && typeof clipboard.write === "function") {
    const blob = text.then((made) => new Blob([made], { type: "text/plain" }));
    try {
      await clipboard.write([new ClipboardItem({ "text/plain": blob })]);
      return;
    } catch {
      // The plain way may still be allowed.
    }
  }
  await clipboard.writeText(await text);
}
