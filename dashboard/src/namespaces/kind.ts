/** What the rows of a list of namespaces are called, by which it shows. Pure. */
export function kindOf(pinned: string | undefined): "namespace" | "label" | "thread" {
  if (pinned === "true") return "label";
  return pinned === "false" ? "thread" : "namespace";
}
