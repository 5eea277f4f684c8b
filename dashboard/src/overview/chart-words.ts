/** A chart in words, for those who do not see it. Pure. */

import { spanInWords } from "~/api/stats";
import type { Curve } from "./curves";

type Shown = {
  title: string;
  total: string;
  buckets: readonly number[];
  step: number;
  curves: readonly Curve[];
  figure: (value: number | null) => string;
};

/** `Requests from 14:00 – 15:00. 310 requests, 31 failed. iOS: most 40, 14:20 – 14:21.` */
export function chartInWords({ title, total, buckets, step, curves, figure }: Shown, now = new Date()): string {
  const [first, last] = [buckets[0] ?? 0, (buckets.at(-1) ?? 0) + step];
  const peaks = curves.flatMap(({ name, values }) => {
    const most = Math.max(...values.map((value) => value ?? 0));
    const at = buckets[values.indexOf(most)];
    return most > 0 && at !== undefined ? [`${name}: most ${figure(most)}, ${spanInWords(at, at + step, now)}`] : [];
  });
  return [`${title}, ${spanInWords(first, last, now)}`, total, ...peaks].join(". ");
}
