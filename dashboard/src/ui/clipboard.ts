/** The clipboard. Over http at an address that is not this machine browsers give the old way to it alone. */

/** Puts a text there that is still being made. Rejects when the browser does not allow it. */
export async function toClipboard(text: Promise<string>): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined) return copyTheOldWay(await text);
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

/** As long ago: a browser copies what is marked, and lets us say what that is. */
function copyTheOldWay(text: string): void {
  let isSaid = false;
  const say = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isSaid = true;
  };
  document.addEventListener("copy", say, { capture: true, once: true });
  document.execCommand?.("copy");
  document.removeEventListener("copy", say, { capture: true });
  if (!isSaid) throw new Error("This browser gives no clipboard here.");
}
