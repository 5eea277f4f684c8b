import { expect, it } from "vitest";
import { hourlyAnswer } from "~/test/fake-api";
import { hourlyCountsByValue } from "./sparkline";

const clock = (moment: string) => `${String(new Date(moment).getHours()).padStart(2, "0")}:00`;

it("each value has a count for every hour, including hours without requests", () => {
  const sparks = hourlyCountsByValue(hourlyAnswer("namespace", { staging: { 1: 3, 23: 4 } }));
  const hours = sparks.get("staging")?.hours;
  expect(hours).toHaveLength(25);
  expect(hours?.[1]).toBe(3);
  expect(hours?.[23]).toBe(4);
  expect(hours?.reduce((all, each) => all + each, 0)).toBe(7);
});

it("the title has the number of requests, the start of the first hour, and the busiest hour", () => {
  const sparks = hourlyCountsByValue(
    hourlyAnswer("property.channel", { iOS: { 4: 1000, 5: 41 }, web: { 5: 2 }, tv: { 6: 1 }, even: { 8: 2, 9: 2 } }),
    new Date(Date.UTC(2026, 10, 22, 13, 20)),
  );
  const at = (hour: number) => clock(new Date(Date.UTC(2026, 10, 21, 13 + hour)).toISOString());
  expect(sparks.get("iOS")?.words).toBe(`1,041 requests since yesterday ${at(0)}, peak at ${at(4)}`);
  expect(sparks.get("web")?.words).toBe(`2 requests since yesterday ${at(0)}, all at ${at(5)}`);
  expect(sparks.get("tv")?.words).toBe(`1 request since yesterday ${at(0)}, at ${at(6)}`);
  expect(sparks.get("even")?.words).toBe(`4 requests since yesterday ${at(0)}, peak at ${at(8)}`);
});

it("requests without a value and the remainder are left out", () => {
  const answer = hourlyAnswer("property.channel", { iOS: { 4: 1 } });
  const [group] = answer.groups;
  const without = { ...answer, groups: group === undefined ? [] : [{ ...group, by: { "property.channel": null } }] };
  expect(hourlyCountsByValue(without).size).toBe(0);
  expect(hourlyCountsByValue(hourlyAnswer("namespace", {})).get("staging")).toBeUndefined();
});
