import { expect, it } from "vitest";
import type { Namespace } from "~/generated/api-types";
import { groupsOf } from "./labels";

const label = (namespace: string, group: string | null, position: number) =>
  ({ namespace, group, position }) as Namespace;

it("labels are grouped in their order, and the first nine have a key", () => {
  const others = Array.from({ length: 8 }, (_, at) => label(`x${at}`, null, 10 + at));
  const groups = groupsOf([
    ...others,
    label("iOS", "Channel", 2),
    label("staging", "Environment", 3),
    label("production", "Environment", 1),
  ]);
  expect(
    groups.map(({ group, labels }) => [
      group,
      ...labels.slice(0, 2).map(({ namespace, key }) => `${key} ${namespace}`),
    ]),
  ).toEqual([
    ["Environment", "1 production", "2 staging"],
    ["Channel", "3 iOS"],
    ["", "4 x0", "5 x1"],
  ]);
  expect(groups[2]?.labels.map(({ key }) => key)).toEqual(["4", "5", "6", "7", "8", "9", undefined, undefined]);
});
