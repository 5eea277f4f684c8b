/** The parts of the drawer, in order. */

export const SECTIONS = ["Conversation", "Timing", "Tokens & cost", "Parameters", "Headers", "Raw"] as const;

export type SectionName = (typeof SECTIONS)[number];

/** The id of a part's heading. */
export function sectionId(name: SectionName): string {
  return `request-${name.toLowerCase().replace(/\W+/g, "-")}`;
}
