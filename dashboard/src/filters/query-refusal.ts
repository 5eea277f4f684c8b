/** What the API has against a part of the query language, for somebody who sees the box and not the call. Pure. */

/** Without the place in the call: the box may have only a part of it, and the message quotes what is wrong. */
export function refusalInWords(message: string): string {
  return message.replace(/^q, (?<part>.+?) at character \d+: /su, "$<part>: ").replace(/^q has/u, "This has");
}
