import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { propertyColumn } from "./columns";
import { LogCells } from "./log-cells";

it("the number of properties without a column says which they are", async () => {
  const row = sampleRequest({ properties: { channel: "iOS", feature: "support", session: "s-1" } });
  const columns = ["text", propertyColumn("channel")] as const;
  await renderAt(
    "",
    <table>
      <tbody>
        <tr>
          <LogCells row={row} columns={columns} />
        </tr>
      </tbody>
    </table>,
  );
  const more = await screen.findByTitle(/^2 more properties/);
  expect(more.title).toBe("2 more properties:\nfeature: support\nsession: s-1");
  expect(more).toHaveTextContent("+22 more properties: feature: support session: s-1");
});
