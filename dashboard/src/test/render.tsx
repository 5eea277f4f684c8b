/** Render components with theme, queries and a router. */

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { parseSearch } from "~/domain/log-search";
import { type Label, LabelsContext } from "~/filters/labels";
import { SearchContext } from "~/navigation/search-context";

/**
 * Render at `/requests` or another path, with these search parameters and this hash. Returns the queries, and
 * functions that read the current location.
 */
export async function renderAt(search: string, children: ReactNode, labels: Label[] = [], path = "/requests") {
  const history = createMemoryHistory({ initialEntries: [`${path}${search}`] });
  const parsed = parseSearch(search.replace(/#.*/, ""));
  const root = createRootRoute({
    component: () => (
      <SearchContext value={parsed}>
        <LabelsContext value={new Map(labels.map((label) => [label.namespace, label]))}>{children}</LabelsContext>
      </SearchContext>
    ),
    notFoundComponent: () => null,
  });
  const router = createRouter({ routeTree: root, history });
  await router.load();
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return {
    client,
    where: () => history.location.pathname + history.location.search,
    state: () => history.location.state,
  };
}
